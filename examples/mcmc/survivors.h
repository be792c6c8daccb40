/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The ranks that put the results together: all, or the survivors of deaths. If another of them dies
 * meanwhile, the others repeat what they were doing. */
#ifndef MCMC_SURVIVORS_H
#define MCMC_SURVIVORS_H

#include <regroup.h>

typedef struct {
  rg_group g;
  int survives; /* RG_SURVIVE is set */
  int first;    /* whether this rank is its first, which prints and writes */
} mcmc_survivors;

/* Whether the job was started so that it survives. Before or after rg_init. */
int mcmc_survivors_expected(void);

/* All ranks of the world. */
void mcmc_survivors_open(mcmc_survivors *t);
void mcmc_survivors_close(mcmc_survivors *t);

/* After a call before the work: the balancer will deal with a death; other errors end the job. */
void mcmc_survivors_go_on(const mcmc_survivors *t, int error, const char *what);

/* All members call after a step, with its error on this rank. Returns 1 if all is well; 0 if a
 * member has died: then the group is that of the others. Other errors end the job. */
int mcmc_survivors_settled(mcmc_survivors *t, int error, const char *what);

/* Whether the first rank has died after all was well: then another one does its part. */
int mcmc_survivors_lost_first(mcmc_survivors *t);

/* The rank in the world of the first of them. */
int mcmc_survivors_root(const mcmc_survivors *t, rg_group world, int *root);

#endif
