/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A blocking call of MPI's that a death cannot end: where one of its processes has died, and the
 * call waits, the job ends with a line that names it. */
#ifndef RGI_FAULT_WATCH_H
#define RGI_FAULT_WATCH_H

#include "formation/members.h"

typedef struct rgi_fault_watch {
  struct rgi_fault_watch *outer; /* of the call that this one is made in */
  const rgi_members *members;
  const char *call;
  double since; /* when the death was noticed; 0: there is none */
  void (*polled)(void);
} rgi_fault_watch;

/* Calls of this thread that have begun here and not ended. */
extern _Thread_local int rgi_fault_watch_depth;

/* members: NULL: nothing is watched. call: a constant. */
void rgi_fault_watch_begin(rgi_fault_watch *watch, const rgi_members *members, const char *call);
void rgi_fault_watch_end(rgi_fault_watch *watch);

/* An error of this library's inside such a call, which MPI is not known to survive: ends the job.
 * rank: of the dead in MPI_COMM_WORLD, or -1. */
void rgi_fault_watch_tell(int rank);

#endif
