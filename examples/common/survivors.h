/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The ranks that put the results together: all, or the survivors of deaths. If another of them dies
 * meanwhile, the others repeat what they were doing. */
#ifndef COMMON_SURVIVORS_H
#define COMMON_SURVIVORS_H

#include <regroup.h>

#include "check.h"

/* Returns the error of the call, if it has one. */
#define TRY(call)                                                                                  \
  do {                                                                                             \
    int error_ = (call);                                                                           \
    if (error_)                                                                                    \
      return error_;                                                                               \
  } while (0)

typedef struct {
  rg_group group;
  int survives; /* RG_SURVIVE is set */
  int first;    /* whether this rank is its first, which prints and writes */
} common_survivors;

/* The program's name, before its messages; each program defines it. */
extern const char common_name[];
/* Ends the whole job with one line if a call of the library failed. */
void common_must(int error, const char *call);

/* Whether the job was started so that it survives. Before or after rg_init. */
int common_survivors_expected(void);

/* All ranks of the world. */
void common_survivors_open(common_survivors *survivors);
void common_survivors_close(common_survivors *survivors);

/* After a call before the work: the balancer will deal with a death; other errors end the job. */
void common_survivors_go_on(const common_survivors *survivors, int error, const char *what);

/* All members call after a step, with its error on this rank. Returns 1 if all is well; 0 if a
 * member has died: then the group is that of the others. Other errors end the job. */
int common_survivors_settled(common_survivors *survivors, int error, const char *what);

/* A step of all members, with what a program knows of its run; returns an error, or if so said
 * whether all is well. */
typedef int common_survivors_step(void *run);
/* Does the step again until no member has died in it. */
void common_survivors_repeat(common_survivors *survivors, common_survivors_step *step, void *run,
                             const char *what);
/* The end of a run: the first rank puts out the results. If it dies, another one does, after the
 * results have been collected again. Returns what the first one's put_out has, on all. */
int common_survivors_finish(common_survivors *survivors, common_survivors_step *put_out,
                            common_survivors_step *collect, void *run);
/* Of a run that ends early: saves; if a member dies, the results are collected again before. */
void common_survivors_save(common_survivors *survivors, common_survivors_step *save,
                           common_survivors_step *collect, void *run);

/* The rank in the world of the first of them. */
int common_survivors_root(const common_survivors *survivors, rg_group world, int *root);

#endif
