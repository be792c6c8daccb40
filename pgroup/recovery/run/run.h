/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-run: starts a job under mpiexec, and again when the launcher has lost it. A
 * program of its own, without MPI and without the library. */
#ifndef RGI_RUN_H
#define RGI_RUN_H

/* How a job under mpiexec has ended. */
typedef struct {
  int status;      /* for the caller of regroup-run */
  int lost;        /* by the launcher, or to SIGKILL: it may be started again */
  int interrupted; /* by a signal to regroup-run: it is not */
} run_end;

/* Runs it, passing its standard error on. command is closed by NULL. */
run_end run_job(char **command);

/* Leaves out the hosts on mpiexec's command line that do not answer; *command may be
 * replaced. The text says which. Returns how many are left; -1: none are named there. */
int run_check_hosts(char ***command);

#endif
