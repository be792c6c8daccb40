/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Waiting: every wait of the library goes through here. It is polite (pause.h),
 * ends with the death of a member, at the latest after RG_TIMEOUT, and tells of a
 * stall. */
#ifndef RGI_WAIT_H
#define RGI_WAIT_H

#include <mpi.h>

#include "base/bell.h"
#include "base/pause.h"
#include "shm/failure.h"

typedef struct {
  rgi_pause pause;
  const char *call; /* for reports: the public function */
  int peer;         /* for reports: who is awaited, a rank; or -1 */
  int reported;
  int over;                       /* the time is up: one more look, then an error */
  int (*awaited)(const void *of); /* finds out peer, when a report needs it; or NULL */
  const void *of;
  int watched;             /* another process whose death ends it, a world rank; or -1 */
  rgi_failure_scope scope; /* whose death ends it: that of the call, unless set */
  int patient;             /* nobody is late: no time limit, no report, no spinning */
  int outside; /* none of the job's processes ends it, but a disk: it may take its time */
} rgi_wait;

/* If not NULL, what every wait does again and again, at least each 0.1 ms: for who must not
 * stand still while it waits. Set while nobody waits. */
extern void (*rgi_wait_meanwhile)(void);

void rgi_wait_start(rgi_wait *w, const char *call, int peer);

/* The same, but neither a member's death nor a revocation ends it. */
void rgi_wait_start_unscoped(rgi_wait *w, const char *call, int peer);

/* For a process that is in nobody's way until it is called: it may sleep for ever, and
 * nobody's death ends it. */
void rgi_wait_start_patient(rgi_wait *w, const char *call);

/* Pauses once, after a look in vain. RG_SUCCESS: look again. RG_ERR_TIMEOUT;
 * RG_ERR_PROC_FAILED; RG_ERR_REVOKED. */
int rgi_wait_more(rgi_wait *w);

/* The same without a pause, where the look has paused itself: MPI's when it is
 * polite (regroup/polite.h). */
int rgi_wait_check(rgi_wait *w);

/* The same for a wait that somebody ends by changing a bell, which was `old` at
 * the look: sleeps on it. quiet: nothing but the bell can end the wait, so that
 * the sleep may be long. */
int rgi_wait_bell(rgi_wait *w, rgi_bell *bell, uint32_t old, int quiet);

/* Of an error that others have told of, a death or a revocation: waits until it is known here as
 * well, so that who is told of it finds the dead. They may be on another node. */
int rgi_wait_cause(int error, const char *call);

/* MPI_Test and MPI_Iprobe from a loop that waits by the functions above: a look
 * in vain does not pause inside MPI as well. They return MPI's code. */
int rgi_wait_mpi_test(MPI_Request *request, int *done);
int rgi_wait_mpi_test_status(MPI_Request *request, int *done, MPI_Status *status);
int rgi_wait_mpi_probe(int source, int tag, MPI_Comm comm, int *there, MPI_Status *status);

/* Waits until *request is complete. At RG_ERR_TIMEOUT the request is left as it
 * is: its buffer must stay. */
int rgi_wait_request(MPI_Request *request, const char *call, int peer);

#endif
