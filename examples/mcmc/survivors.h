/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The ranks that put the results together: all, or those who have survived. Somebody may die
 * even then; what was being done is done again by the others. */
#ifndef MCMC_SURVIVORS_H
#define MCMC_SURVIVORS_H

#include <regroup.h>

typedef struct {
  rg_group g;
  int survives; /* RG_SURVIVE is set */
  int first;    /* whether this is its first rank, which prints and writes */
} mcmc_survivors;

/* Whether the job was started so that it survives. Before or after rg_init. */
int mcmc_survivors_expected(void);

/* All ranks of the world. */
void mcmc_survivors_open(mcmc_survivors *t);
void mcmc_survivors_close(mcmc_survivors *t);

/* A death before the work begins is the balancer's to deal with: other errors end the job. */
void mcmc_survivors_go_on(const mcmc_survivors *t, int error, const char *what);

/* All of the team have done something, which ended with this error here: returns 1 if all is
 * well, or 0 if somebody has died, who is no member any more. Other errors end the job. */
int mcmc_survivors_settled(mcmc_survivors *t, int error, const char *what);

/* Whether the first rank has died after all was well: then another one does what it was to do. */
int mcmc_survivors_lost_first(mcmc_survivors *t);

/* Its first rank's place in the world. */
int mcmc_survivors_root(const mcmc_survivors *t, rg_group world, int *root);

#endif
