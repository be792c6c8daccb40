/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker that samples a posterior: POST_CHAINS chains which advance together.
 * For a balancer it is
 *  - its state, a struct without pointers: a member that joins gets its bytes
 * by a broadcast;
 *  - a unit, post_walker_advance: some steps on a group of any size. Every
 * member calls with the same state and holds the same state afterwards, the
 * same bits on any group;
 *  - what is left, post_walker_left: a walker ends after a fixed number of steps.
 * The first member of a group keeps the draws that the group makes. */
#ifndef POST_WALKER_H
#define POST_WALKER_H

#include "draws.h"
#include "model.h"

/* What the sampler learns in its first steps and keeps from then on.
 */
typedef struct {
  double log_size, log_sum; /* of the step; summed over the last quarter */
  double width[POST_PARAMETERS];
  int64_t since, measured;                               /* steps since a new start; positions */
  double mean[POST_PARAMETERS], square[POST_PARAMETERS]; /* of those, square about the mean */
} post_tuning;

typedef struct {
  int64_t walker;
  int64_t step;            /* done, those of the tuning included */
  int64_t tried, accepted; /* proposals of all chains after the tuning */
  post_tuning tuning;
  double position[POST_CHAINS][POST_PARAMETERS];
  post_density value[POST_CHAINS]; /* at the position */
} post_walker_state;

/* What is the same for all walkers, on all ranks. */
typedef struct {
  const post_model *model;
  uint64_t seed;
  int64_t walkers, samples, tune; /* draws of a chain that are kept; steps before the first */
} post_walker_setup;

/* A walker's state at the start. Local. */
post_walker_state post_walker_start(const post_walker_setup *setup, int64_t walker);
/* Does so many steps, or all that are left. Collective over the group, whose first member adds the
 * draws. */
int post_walker_advance(rg_group group, const post_walker_setup *setup, post_walker_state *state,
                        int64_t steps, post_draws *draws);
/* Steps that are left. Local. */
int64_t post_walker_left(const post_walker_setup *setup, const post_walker_state *state);

void post_tuning_start(post_tuning *tuning);
/* A step of the tuning: number `step` of `steps`. acceptance: that of the step,
 * the mean over the chains; target: what it should be. */
void post_tuning_learn(post_tuning *tuning, int64_t step, int64_t steps, double acceptance,
                       double target, int parameters,
                       const double position[POST_CHAINS][POST_PARAMETERS]);

/* One step of all chains by Hamiltonian (hybrid) Monte Carlo: Duane et al.,
 * Phys. Lett. B 195, 1987, with leapfrog steps of 0.8 to 1.2 times the tuned
 * size, a quarter of a turn of a Gaussian long. Every member calls, with the
 * same state. acceptance: the mean probability with which the proposals are
 * accepted; *accepted: how many were. */
int post_sampler_step(rg_group group, const post_model *model, uint64_t seed,
                      post_walker_state *state, double *acceptance, int *accepted);

#endif
