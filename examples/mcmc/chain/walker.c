/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker starts its chains far apart, tunes its sampler in the first steps, and then keeps a draw
 * after every so many steps. All of it is a function of seed and walker. */
#include "walker.h"

#include <regroup/random.h>
#include <string.h>

#include "sampler.h"

static const struct {
  post_sampler_step *step;
  double target; /* the acceptance that tuning aims at */
  int gradient;
} samplers[] = {[POST_HMC] = {post_sampler_hmc, 0.95, 1},
                [POST_METROPOLIS] = {post_sampler_metropolis, 0.28, 0}};

/* Walkers 0, 1, 2, 3, 4, ... have models of 1, 2, 4, 8, 1, ... times the scale. */
static int scale_of(const post_walker_setup *s, int64_t walker) {
  return s->scale << walker % 4;
}

int post_walker_model(post_walker_setup *s, int64_t walker, const post_model **m) {
  if (!s->model[walker])
    s->model[walker] = s->kind->make(scale_of(s, walker));
  if (!s->model[walker])
    return RG_ERR_NOMEM;
  *m = s->model[walker];
  return RG_SUCCESS;
}

/* The chains start far apart in terms of the prior. The first step evaluates the densities there.
 */
int post_walker_start(post_walker_setup *s, int64_t walker, post_walker_state *state) {
  const post_model *m;
  int error = post_walker_model(s, walker, &m);
  if (error)
    return error;
  memset(state, 0, sizeof *state);
  state->walker = walker;
  post_tuning_start(&state->tuning);
  for (int c = 0; c < POST_CHAINS; c++) {
    rg_random r = {
        .seed = s->seed, .walker = (uint64_t)(walker * POST_CHAINS + c), .step = UINT64_MAX};
    rg_random_normal(&r, m->parameters, state->position[c]);
  }
  return RG_SUCCESS;
}

int64_t post_walker_left(const post_walker_setup *s, const post_walker_state *state) {
  return s->tune + s->samples * s->thin - state->step;
}

double post_walker_weight(const post_walker_setup *s, int64_t walker) {
  return s->kind->scales ? scale_of(s, walker) : 1;
}

static int keep_draws(const post_model *m, const post_walker_setup *s,
                      const post_walker_state *state, post_draws *draws) {
  double *record = post_draws_add(draws, 2 + POST_CHAINS * m->quantities);
  if (!record)
    return RG_ERR_NOMEM;
  record[0] = (double)state->walker;
  record[1] = (double)((state->step - s->tune) / s->thin - 1);
  for (int c = 0; c < POST_CHAINS; c++)
    m->quantity(m, state->position[c], record + 2 + c * m->quantities);
  return RG_SUCCESS;
}

static int do_step(rg_group g, const post_model *m, const post_walker_setup *s,
                   post_walker_state *state) {
  double acceptance;
  int accepted, error;
  if (state->step == 0 && (error = post_density_evaluate(
                               g, m, state->position, samplers[s->sampler].gradient, state->value)))
    return error;
  if ((error = samplers[s->sampler].step(g, m, s->seed, state, &acceptance, &accepted)))
    return error;
  if (state->step < s->tune) {
    post_tuning_learn(&state->tuning, state->step, s->tune, acceptance, samplers[s->sampler].target,
                      m->parameters, POST_CHAINS, state->position[0], POST_PARAMETERS);
  } else {
    state->tried += POST_CHAINS;
    state->accepted += accepted;
  }
  state->step++;
  return RG_SUCCESS;
}

int post_walker_advance(rg_group g, post_walker_setup *s, post_walker_state *state, int64_t steps,
                        post_draws *draws) {
  const post_model *m;
  int rank, error;
  if ((error = rg_group_rank(g, &rank)) || (error = post_walker_model(s, state->walker, &m)))
    return error;
  for (int64_t i = 0; i < steps && post_walker_left(s, state) > 0; i++) {
    if ((error = do_step(g, m, s, state)))
      return error;
    if (rank == 0 && state->step > s->tune && (state->step - s->tune) % s->thin == 0 &&
        (error = keep_draws(m, s, state, draws)))
      return error;
  }
  return RG_SUCCESS;
}
