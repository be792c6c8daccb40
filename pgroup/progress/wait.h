/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Waiting: every wait of the library uses these functions. A wait is polite (pause.h), ends with
 * the death of a member or after RG_TIMEOUT, and reports a stall. Meanwhile it moves the process's
 * messages and requests on, for the awaited process may wait for these. How: wait.c. */
#ifndef RGI_WAIT_H
#define RGI_WAIT_H

#include <mpi.h>

#include "base/bell.h"
#include "base/pause.h"
#include "shm/failure.h"

typedef struct {
  rgi_pause pause;
  const char *call;               /* for reports: the public function */
  int peer;                       /* for reports: the awaited rank, or -1 */
  int reported, unlimited;        /* reported: once; unlimited: RG_TIMEOUT does not end it */
  double asked;                   /* how long it had lasted when the program's hook was called */
  uint32_t noted;                 /* the number of its note (shm/stall.h) */
  int unmet;                      /* the group's first operation: no member may be there */
  int over;                       /* looks since RG_TIMEOUT has passed: the second is an error */
  int (*awaited)(const void *of); /* finds the awaited rank when a report needs it; or NULL */
  const void *of;
  int watched;             /* one more process whose death ends the wait, a world rank; or -1 */
  rgi_failure_scope scope; /* the processes whose death ends the wait; at first: the call's */
  uint32_t own;            /* the process's own bell, before it last moved on what it has */
  int patient;             /* it may last for ever: no time limit, no report, no spinning */
  int outside;             /* a disk ends the wait, no process: it is not reported to the guard */
  int alone;               /* the caller moves messages and requests on itself, or must not */
} rgi_wait;

/* If not NULL, every wait calls it, at least each 0.1 ms: for a process that has work to do while
 * it waits. Set while no thread waits. */
extern void (*rgi_wait_meanwhile)(void);

void rgi_wait_start(rgi_wait *wait, const char *call, int peer);

/* The same, but neither a member's death nor a revocation ends it. */
void rgi_wait_start_unscoped(rgi_wait *wait, const char *call, int peer);

/* For a process that does nothing until it is called: it may sleep for ever, and no death ends the
 * wait. */
void rgi_wait_start_patient(rgi_wait *wait, const char *call);

/* Pauses once; the caller has just found that its condition is not fulfilled. RG_SUCCESS: look
 * again. RG_ERR_TIMEOUT, RG_ERR_PROC_FAILED, RG_ERR_REVOKED: the wait has ended. */
int rgi_wait_more(rgi_wait *wait);

/* The same without a pause, for a caller that paused while it looked, as MPI does when it is polite
 * (regroup/polite.h). */
int rgi_wait_check(rgi_wait *wait);

/* The same for a condition that another process signals by a bell: sleeps until the bell changes.
 * old: its value, read before the caller looked at the condition. quiet: only the bell can end
 * the wait, so the sleep may be long where no message or request needs this process. */
int rgi_wait_bell(rgi_wait *wait, rgi_bell *bell, uint32_t old, int quiet);

/* The caller has looked for something and returns. In vain: a program that looks again at once
 * waits in this way, and shall give its processor away as other waits do; one that looks now and
 * then, between pieces of work, is not held up. */
void rgi_wait_looked(int in_vain);

/* For an error that another process has reported, a death or a revocation: waits until this process
 * knows of it, so that the user finds the dead. The dead may be on another node. Returns the error
 * with its cause. */
int rgi_wait_cause(int error, const char *call);

/* MPI_Test and MPI_Iprobe for a loop that pauses by the functions above: MPI itself does not
 * pause in them. They return MPI's code. */
int rgi_wait_mpi_test(MPI_Request *request, int *done);
int rgi_wait_mpi_test_status(MPI_Request *request, int *done, MPI_Status *status);
/* The same for a receive that has just been started, without a poll: whether the message was there
 * already. */
int rgi_wait_mpi_test_there(MPI_Request *request, int *done, MPI_Status *status);
int rgi_wait_mpi_probe(int source, int tag, MPI_Comm comm, int *there, MPI_Status *status);

/* Waits until *request is complete. After an error the request is still active, and its buffer must
 * stay. */
int rgi_wait_request(MPI_Request *request, const char *call, int peer);

#endif
