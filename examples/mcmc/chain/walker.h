/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker that samples a posterior: POST_CHAINS chains which advance together.
 *
 * For a balancer, a walker is
 *  - its state, a struct without pointers: a member that joins gets its bytes by a
 *    broadcast, and packing it for a message or a file is a copy;
 *  - a unit, post_walker_advance(): some steps on a group of any size. Every
 *    member calls with the same state and holds the same state afterwards, the
 *    same bits on any group;
 *  - what is left, post_walker_left(): a walker ends after its own fixed number
 *    of steps, never by the clock;
 *  - its weight, post_walker_weight(): the work of a step, relative to others.
 * The first member of a group keeps the draws that the group makes. post_draws_gather() puts the
 * draws of a walker together, on whatever ranks they are. */
#ifndef POST_WALKER_H
#define POST_WALKER_H

#include "density.h"
#include "draws.h"
#include "tuning.h"

typedef enum { POST_HMC, POST_METROPOLIS } post_walker_sampler;

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
  const post_model_kind *kind;
  post_walker_sampler sampler;
  uint64_t seed;
  int64_t walkers, samples; /* draws that are kept of a chain */
  int64_t thin, tune;       /* steps between two of them; steps before the first */
  int scale;                /* of the smallest model */
  post_model **model;       /* of each walker; made when it is first needed */
} post_walker_setup;

/* Chain c of a walker has the number walker * POST_CHAINS + c everywhere. */

/* The walker's model, made on the first call. Local. Errors: RG_ERR_NOMEM. */
int post_walker_model(post_walker_setup *s, int64_t walker, const post_model **m);

/* Sets the state at the start. Local. */
int post_walker_start(post_walker_setup *s, int64_t walker, post_walker_state *state);

/* Does so many steps, or all that are left. Collective over g, whose first member keeps the draws
 * in *draws. Errors: those of post_density_evaluate, RG_ERR_NOMEM. */
int post_walker_advance(rg_group g, post_walker_setup *s, post_walker_state *state, int64_t steps,
                        post_draws *draws);

/* Steps that are left; the work of one step. Local. */
int64_t post_walker_left(const post_walker_setup *s, const post_walker_state *state);
double post_walker_weight(const post_walker_setup *s, int64_t walker);

#endif
