/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Requests from the inside. An operation embeds struct rg_request_s as the first
 * member of what it needs, sets call, progress and release, and hands it to
 * rgi_request_open. Point-to-point and collectives share this one type.
 *
 * An operation of one message has nothing to do but to look whether its
 * rgi_message is done (background = 0: nothing is called until somebody waits).
 * One of several steps (background = 1) is moved on by every wait of the
 * process, whatever it waits for: rgi_requests_progress. */
#ifndef RGI_REQUEST_H
#define RGI_REQUEST_H

#include <regroup/request.h>

#include "shm/failure.h"

struct rg_request_s {
  unsigned magic;
  const char *call; /* the public function, for errors and reports */
  /* Does what can be done now, after rgi_progress; never waits, and calls neither
   * rgi_progress nor anything that waits. One thread at a time. An error ends the
   * request. */
  int (*progress)(rg_request r, int *done);
  /* Frees all of it, after the end; or gives it up, after a death. */
  void (*release)(rg_request r);
  rg_status status; /* set before the end */
  int peer;         /* for reports: who is awaited, a world rank, or -1 */
  int background;
  rgi_failure_scope scope; /* of the call that began it */
  /* The rest is request.c's own. */
  int done, error;
  char *text; /* of the error, from whichever thread found it */
  rg_request next, *link;
};

/* Begins: the request is alive from here on and belongs to whoever waits. */
void rgi_request_open(rg_request r);

/* Moves all background requests on. Any thread. For every wait of the library. */
void rgi_requests_progress(void);

/* Whether there are any: then a wait for something else must not sleep long. */
int rgi_requests_busy(void);

/* The library stops: what is in the background comes to nothing (RG_ERR_NOT_INIT for
 * whoever asks after the next start). */
void rgi_requests_stop(void);

/* Everything of this process: messages, and requests in the background. */
int rgi_requests_progress_all(void);

#endif
