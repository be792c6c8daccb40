/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker starts its chains far apart, tunes its sampler in the first steps,
 * and then keeps a draw after every step. All of it is a function of seed and
 * walker. */
#include "walker.h"

#include <regroup/random.h>
#include <string.h>

#define ACCEPTANCE 0.95 /* that tuning aims at */

/* The chains start far apart in terms of the prior. The first step evaluates the densities there.
 */
post_walker_state post_walker_start(const post_walker_setup *setup, int64_t walker) {
  post_walker_state state;
  memset(&state, 0, sizeof state);
  state.walker = walker;
  post_tuning_start(&state.tuning);
  for (int c = 0; c < POST_CHAINS; c++) {
    rg_random stream = {
        .seed = setup->seed, .walker = (uint64_t)(walker * POST_CHAINS + c), .step = UINT64_MAX};
    rg_random_normal(&stream, setup->model->parameters, state.position[c]);
  }
  return state;
}

int64_t post_walker_left(const post_walker_setup *setup, const post_walker_state *state) {
  return setup->tune + setup->samples - state->step;
}

static int keep_draw(const post_walker_setup *setup, const post_walker_state *state,
                     post_draws *draws) {
  const post_model *model = setup->model;
  draws->length = 2 + POST_CHAINS * model->parameters;
  double *record = post_draws_add(draws, draws->length);
  if (!record)
    return RG_ERR_NOMEM;
  record[0] = (double)state->walker;
  record[1] = (double)(state->step - setup->tune - 1);
  for (int c = 0; c < POST_CHAINS; c++)
    model->quantities(state->position[c], record + 2 + c * model->parameters);
  return RG_SUCCESS;
}

static int do_step(rg_group group, const post_walker_setup *setup, post_walker_state *state) {
  double acceptance;
  int accepted, error = RG_SUCCESS;
  if (state->step == 0)
    error = post_density_evaluate(group, setup->model, state->position, state->value);
  if (!error)
    error = post_sampler_step(group, setup->model, setup->seed, state, &acceptance, &accepted);
  if (error)
    return error;
  if (state->step < setup->tune) {
    post_tuning_learn(&state->tuning, state->step, setup->tune, acceptance, ACCEPTANCE,
                      setup->model->parameters, state->position);
  } else {
    state->tried += POST_CHAINS;
    state->accepted += accepted;
  }
  state->step++;
  return RG_SUCCESS;
}

int post_walker_advance(rg_group group, const post_walker_setup *setup, post_walker_state *state,
                        int64_t steps, post_draws *draws) {
  int rank;
  int error = rg_group_rank(group, &rank);
  for (int64_t i = 0; i < steps && post_walker_left(setup, state) > 0 && !error; i++) {
    error = do_step(group, setup, state);
    if (!error && rank == 0 && state->step > setup->tune)
      error = keep_draw(setup, state, draws);
  }
  return error;
}
