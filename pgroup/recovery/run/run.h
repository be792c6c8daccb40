/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-run: starts a job under a launcher, MPICH's mpiexec or Slurm's srun, and starts it again
 * when the launcher has lost it. It uses neither MPI nor the library. */
#ifndef RGI_RUN_H
#define RGI_RUN_H

#include <sys/types.h>

/* How a job has ended. */
typedef struct {
  int status; /* the status with which regroup-run is to exit */
  int lost;   /* the launcher has lost the job, or SIGKILL has ended it: may be started again */
  int interrupted; /* a signal to regroup-run has ended it: is not started again */
} run_end;

/* What the guards and daemons have told (noded/daemon/news.h). */
typedef struct {
  int signal; /* a rank was ended by it when the job could not survive that; 0: none */
  int well;   /* the survivors have ended well */
  int ended;  /* a node has ended by itself: with RGI_OVERLAY_ENDED_STATUS */
  int exited; /* a rank has ended the job by exit, with this status, or 1 for 0 */
} run_news;

/* What is to be said, heard and done differently under different launchers. */
typedef struct {
  const char *name;
  const char *const *options; /* which come before the user's; NULL ends them */
  int dies;                   /* is killed when regroup-run is */
  int is_shown_by; /* a signal by which the launcher only shows how the job is; 0: none */
  /* Before the first start. 0: the command cannot do, and a line has told why. */
  int (*open)(char **command);
  /* Whether regroup-run has to listen while the job runs, also without --restart. */
  int (*must_hear)(void);
  /* A line of standard error, and one of a guard's or daemon's. 0: it is the answer to a question,
   * or for regroup-run only, and is not passed on. */
  int (*hear)(const char *line);
  int (*hear_news)(const char *line);
  /* Called at least ten times a second while the launcher runs. */
  void (*step)(pid_t launcher);
  /* end has the launcher's own status; lost, if a signal has ended it. */
  void (*judge)(const run_news *news, run_end *end);
  /* Changes the command line so that the job starts on what is left. Returns how many hosts or
   * nodes that is; -1: they are not known. */
  int (*next)(char ***command);
} run_launcher;

extern const run_launcher run_mpiexec, run_srun;

/* Runs the command, which NULL ends, and passes its standard error on. After status 9, by which
 * MPICH's launcher tells that one of its processes was killed, a line says that this may have been
 * a guard, unless a guard has named a rank. */
run_end run_job(const run_launcher *launcher, char **command);

/* The same without looking at its standard error. */
run_end run_job_unheard(const run_launcher *launcher, char **command);

/* The signal that has ended a job, or is to; 0: none. */
int run_interrupted(void);

/* run_mpiexec.next: removes the hosts that do not answer, with a line for each. */
int run_check_hosts(char ***command);

/* The value of the last option of these names before the program, or NULL. */
const char *run_srun_option(char **command, char character, const char *name);

/* Whether an option that has no value is there. */
int run_srun_flag(char **command, char character, const char *name);

/* A copy with these words before the program: of srun's options the last one counts. */
char **run_srun_add(char **command, char **words);

#endif
