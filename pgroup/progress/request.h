/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Requests, as the rooms that make them see them. An operation embeds struct rg_request_s as the
 * first member of its own struct, sets call, progress and release, and passes it to
 * rgi_request_open. Point-to-point messages and collectives use the same type.
 *
 * An operation of one message only looks whether its rgi_message is done (background = 0: its
 * progress function is called when the user tests or waits for it). An operation of several steps
 * (background = 1) is moved on by every wait of the process: rgi_requests_progress. */
#ifndef RGI_REQUEST_H
#define RGI_REQUEST_H

#include <regroup/request.h>

#include "shm/failure.h"

struct rg_request_s {
  unsigned magic;
  const char *call; /* the public function, for errors and reports */
  /* Does what can be done now. It is called after rgi_progress and must neither wait nor call
   * rgi_progress. One thread at a time. An error ends the request. */
  int (*progress)(rg_request r, int *done);
  /* Frees the operation, or gives it up if it ended by a death or a revocation. */
  void (*release)(rg_request r);
  rg_status status; /* set before the end */
  int peer;         /* for reports: the awaited process, a world rank, or -1 */
  int background;
  rgi_failure_scope scope; /* of the call that began it */
  /* The rest is request.c's own. */
  int done, error;
  char *text;        /* of the error, from whichever thread found it */
  int listed, freed; /* it is in the list of requests to be moved on; rg_request_free */
  rg_request next, *link;
};

/* Starts the request. From now on rg_wait or rg_test ends and frees it. */
void rgi_request_open(rg_request request);

/* RG_ERR_ARG if request is NULL or *request is no request; RG_ERR_NOT_INIT. */
int rgi_request_check(const char *call, const rg_request *request);

/* Moves it on; whether it is complete. An error of its operation is in request->error then. */
int rgi_request_test(rg_request request);

/* Ends it for a death or a revocation, if one concerns it; whether it is complete. */
int rgi_request_check_failure(rg_request request);

/* Frees a request that is complete; returns its error. status: NULL, or set without one. */
int rgi_request_end(rg_request *request, rg_status *status);

/* Moves all background requests and freed requests on. Any thread. */
void rgi_requests_progress(void);

/* No thread moves a request on in between. */
void rgi_requests_lock(void);
void rgi_requests_unlock(void);

/* As rgi_requests_progress, unless some thread, also the caller, is doing so. Every wait of the
 * library calls it (wait.c). */
void rgi_requests_attempt(void);

/* Whether there are background requests: a wait for something else must not sleep long then. */
int rgi_requests_busy(void);

/* No process needs anything of this one any more: gives up the freed requests. */
void rgi_requests_drop_freed(void);

/* The library stops: ends all background requests with RG_ERR_NOT_INIT. */
void rgi_requests_stop(void);

/* rgi_progress and rgi_requests_progress. */
int rgi_requests_progress_all(void);

#endif
