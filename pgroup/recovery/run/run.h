/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-run: starts a job under mpiexec, and starts it again when the launcher has lost it. It
 * uses neither MPI nor the library. */
#ifndef RGI_RUN_H
#define RGI_RUN_H

/* How a job under mpiexec has ended. */
typedef struct {
  int status; /* the status with which regroup-run is to exit */
  int lost;   /* the launcher has lost the job, or SIGKILL has ended it: may be started again */
  int interrupted; /* a signal to regroup-run has ended it: is not started again */
} run_end;

/* Runs the command, which NULL ends, and passes its standard error on. */
run_end run_job(char **command);

/* Removes the hosts that do not answer from mpiexec's command line, with a line for each; *command
 * may be replaced. Returns how many are left; -1: the command names no hosts. */
int run_check_hosts(char ***command);

#endif
