/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The ranks that put the results together: all, or those who have survived. Somebody may die
 * even then; what was being done is done again by the others. */
#ifndef MCMC_TEAM_H
#define MCMC_TEAM_H

#include <regroup.h>

typedef struct {
  rg_group g;
  int survives; /* RG_SURVIVE is set */
  int first;    /* whether this is its first rank, which prints and writes */
} mcmc_team;

/* Whether the job was started so that it survives. Before or after rg_init. */
int mcmc_may_survive(void);

/* All ranks of the world. */
void mcmc_team_open(mcmc_team *t);
void mcmc_team_close(mcmc_team *t);

/* A death before the work begins is the balancer's to deal with: other errors end the job. */
void mcmc_team_go_on(const mcmc_team *t, int error, const char *what);

/* All of the team have done something, which ended with this error here: returns 1 if all is
 * well, or 0 if somebody has died, who is no member any more. Other errors end the job. */
int mcmc_team_settled(mcmc_team *t, int error, const char *what);

/* Whether the first rank has died after all was well: then another one does what it was to do. */
int mcmc_team_lost_first(mcmc_team *t);

/* Its first rank's place in the world. */
int mcmc_team_root(const mcmc_team *t, rg_group world, int *root);

#endif
