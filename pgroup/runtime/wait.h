/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Waiting: every wait of the library goes through here. It is polite (pause.h),
 * ends at the latest after RG_TIMEOUT, and tells of a stall. */
#ifndef RGI_WAIT_H
#define RGI_WAIT_H

#include <mpi.h>

#include "runtime/futex.h"
#include "runtime/pause.h"

typedef struct {
  rgi_pause pause;
  const char *call; /* for reports: the public function */
  int peer;         /* for reports: who is awaited, a rank of the world; or -1 */
  int reported;
} rgi_wait;

void rgi_wait_start(rgi_wait *w, const char *call, int peer);

/* Pauses once, after a look in vain. RG_SUCCESS: look again. RG_ERR_TIMEOUT. */
int rgi_wait_more(rgi_wait *w);

/* The same for a wait that somebody ends by changing a bell, which was `old` at
 * the look: sleeps on it. quiet: nothing but the bell can end the wait, so that
 * the sleep may be long. */
int rgi_wait_bell(rgi_wait *w, rgi_bell *bell, uint32_t old, int quiet);

/* Waits until *request is complete. At RG_ERR_TIMEOUT the request is left as it
 * is: its buffer must stay. */
int rgi_wait_request(MPI_Request *request, const char *call, int peer);

#endif
