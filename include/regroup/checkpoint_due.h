/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * When the last checkpoint is due: a signal has asked for it, or the job's time ends soon. The
 * members agree on it, save, and end with the status RG_EXIT_REQUEUE. How they save is theirs: by
 * checkpoint.h or otherwise. docs/recovery.md shows a program. The library is libregroup. */
#ifndef REGROUP_CHECKPOINT_DUE_H
#define REGROUP_CHECKPOINT_DUE_H

#include <regroup/error.h>
#include <regroup/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The exit status of a program that has saved its state and is to be started again. */
#define RG_EXIT_REQUEUE 99

/* on = 1: from now on `signal`, SIGUSR1 or SIGTERM for instance, makes a checkpoint due instead of
 * what it did before. on = 0: it has again the action that it had before the first call with 1.
 * Neither rg_init nor rg_finalize changes it: a signal that comes while the program saves and ends,
 * a second one for instance, does not end it sooner.
 * Callers: any process, local; also before rg_init. One thread of the process at a time, and no
 * other one changes the action of this signal meanwhile. The handler only stores a number, in
 * whichever thread the signal reaches; system calls that it interrupts are restarted (SA_RESTART)
 * where the system can. With mpiexec's -disable-auto-cleanup use another signal than SIGUSR1, by
 * which that reports deaths. Cost: a system call.
 * Errors: RG_ERR_ARG (no such signal, or one that cannot be caught). */
RG_API int rg_checkpoint_on_signal(int signal, int on);

/* *due is 1 on all members if one of them has received such a signal, or the job's time ends soon;
 * else 0. Once it is 1 it stays 1, also in the members' calls on other groups.
 * The job's time ends at RG_END_TIME or, without that, at SLURM_JOB_END_TIME (in the environment,
 * seconds since 1970). *due becomes 1 when one member has no more time left than RG_END_MARGIN
 * (10 s), twice the longest checkpoint that it has completed (checkpoint.h), and the time between
 * two of its calls, on whatever group and from whatever thread, together: after a long phase
 * without a call the next one counts on another such phase.
 * Callers: every member of g, as a collective operation on g. Cost: an allreduce of one int.
 * Errors: those of rg_allreduce, RG_ERR_PROC_FAILED among them; RG_ERR_ARG. */
RG_API int rg_checkpoint_due(rg_group g, int *due);

#ifdef __cplusplus
}
#endif
#endif
