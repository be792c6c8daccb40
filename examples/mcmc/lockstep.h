/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The synchronous policy as a pure function: from everybody's load to who joins
 * whom. Each idle group joins the next active group to its right; a chain of
 * idle groups joins it at once; idle groups with no active one to their right
 * stay as they are. */
#ifndef MCMC_LOCKSTEP_H
#define MCMC_LOCKSTEP_H

#include <stdint.h>

/* What a rank tells about its group. */
typedef struct {
  int64_t first;   /* the group's first rank */
  int64_t left;    /* units that it still has to do */
  int64_t samples; /* samples in its next round */
  int64_t late;    /* nanoseconds by which its last round ended after it was due */
} mcmc_load;

typedef struct {
  int first, last; /* the group's ranks from now on */
  int owner;       /* first rank, until now, of the group whose work it does */
  int changed;     /* whether the group is a new one */
} mcmc_join;

/* The group of rank me from now on. O(ranks). */
mcmc_join mcmc_lockstep_join(int ranks, const mcmc_load load[], int me);

/* The most samples that a rank of any of the groups from now on has to do in the
 * next round: with a sample's time, how long the round lasts. O(ranks). */
double mcmc_lockstep_longest(int ranks, const mcmc_load load[]);

#endif
