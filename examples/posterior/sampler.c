/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The sampler works on all chains of a walker at once, since an evaluation for
 * all costs as many messages as for one. Random numbers depend on seed, chain
 * and step only, so every member takes the same decisions. */
#include <math.h>
#include <regroup/random.h>
#include <string.h>

#include "walker.h"

enum { ACCEPT, JITTER }; /* uniform draws of a step */
enum { MOST_LEAPS = 32 };

/* Positions and momenta of all chains during the leapfrog steps. Positions are
 * in units of the widths, so that all masses are 1. */
typedef struct {
  double position[POST_CHAINS][POST_PARAMETERS], momentum[POST_CHAINS][POST_PARAMETERS];
  double size[POST_CHAINS];
  post_density value[POST_CHAINS];
} hmc_leaps;

/* Each chain is a walker of rg_random's. */
static rg_random stream_of(uint64_t seed, const post_walker_state *state, int chain,
                           uint64_t draw) {
  return (rg_random){.seed = seed,
                     .walker = (uint64_t)(state->walker * POST_CHAINS + chain),
                     .step = (uint64_t)state->step,
                     .draw = draw};
}

static double draw_uniform(uint64_t seed, const post_walker_state *state, int chain,
                           uint64_t draw) {
  rg_random stream = stream_of(seed, state, chain, draw);
  double x = 0;
  rg_random_uniform(&stream, 1, &x);
  return x;
}

/* Accepts or rejects the proposals. One whose density is not a number is
 * rejected. */
static void accept_proposals(uint64_t seed, post_walker_state *state, const hmc_leaps *leaps,
                             const double gain[POST_CHAINS], double *acceptance, int *accepted) {
  *acceptance = 0;
  *accepted = 0;
  for (int c = 0; c < POST_CHAINS; c++) {
    double probability = gain[c] >= 0 ? 1 : exp(gain[c]);
    if (isnan(probability))
      probability = 0;
    *acceptance += probability / POST_CHAINS;
    if (draw_uniform(seed, state, c, ACCEPT) >= probability)
      continue;
    memcpy(state->position[c], leaps->position[c], sizeof leaps->position[c]);
    state->value[c] = leaps->value[c];
    ++*accepted;
  }
}

/* The log of the joint density of positions and momenta. */
static double energy_of(const post_density *value, const double momentum[], int parameters) {
  double kinetic = 0;
  for (int i = 0; i < parameters; i++)
    kinetic += momentum[i] * momentum[i] / 2;
  return value->log_density - kinetic;
}

static void start_leaps(const post_model *model, uint64_t seed, const post_walker_state *state,
                        hmc_leaps *leaps) {
  memcpy(leaps->position, state->position, sizeof leaps->position);
  memcpy(leaps->value, state->value, sizeof leaps->value);
  for (int c = 0; c < POST_CHAINS; c++) {
    rg_random stream = stream_of(seed, state, c, 0);
    rg_random_normal(&stream, model->parameters, leaps->momentum[c]);
    leaps->size[c] =
        exp(state->tuning.log_size) * (0.8 + 0.4 * draw_uniform(seed, state, c, JITTER));
  }
}

static void kick_momenta(const post_model *model, const post_walker_state *state, double share,
                         hmc_leaps *leaps) {
  for (int c = 0; c < POST_CHAINS; c++)
    for (int i = 0; i < model->parameters; i++)
      leaps->momentum[c][i] +=
          share * leaps->size[c] * state->tuning.width[i] * leaps->value[c].gradient[i];
}

static void drift_positions(const post_model *model, const post_walker_state *state,
                            hmc_leaps *leaps) {
  for (int c = 0; c < POST_CHAINS; c++)
    for (int i = 0; i < model->parameters; i++)
      leaps->position[c][i] += leaps->size[c] * state->tuning.width[i] * leaps->momentum[c][i];
}

int post_sampler_step(rg_group group, const post_model *model, uint64_t seed,
                      post_walker_state *state, double *acceptance, int *accepted) {
  hmc_leaps leaps;
  double gain[POST_CHAINS], wanted = ceil(1.5 / exp(state->tuning.log_size));
  int count = wanted < MOST_LEAPS ? (int)wanted : MOST_LEAPS, error;
  start_leaps(model, seed, state, &leaps);
  for (int c = 0; c < POST_CHAINS; c++)
    gain[c] = -energy_of(&state->value[c], leaps.momentum[c], model->parameters);
  kick_momenta(model, state, 0.5, &leaps);
  for (int leap = 1; leap <= count; leap++) {
    drift_positions(model, state, &leaps);
    if ((error = post_density_evaluate(group, model, leaps.position, leaps.value)))
      return error;
    kick_momenta(model, state, leap < count ? 1 : 0.5, &leaps);
  }
  for (int c = 0; c < POST_CHAINS; c++)
    gain[c] += energy_of(&leaps.value[c], leaps.momentum[c], model->parameters);
  accept_proposals(seed, state, &leaps, gain, acceptance, accepted);
  return RG_SUCCESS;
}

/* --- tuning ---------------------------------------------------------------------------------- */

/* The step size follows the acceptance (Robbins and Monro); the widths of the posterior are
 * measured twice, from an eighth to a quarter and from there to a half of the tuning. The step size
 * in the end is the (geometric) mean over the last quarter. */

void post_tuning_start(post_tuning *tuning) {
  memset(tuning, 0, sizeof *tuning);
  tuning->log_size = log(0.1);
  for (int i = 0; i < POST_PARAMETERS; i++)
    tuning->width[i] = 1;
}

static void forget_measured(post_tuning *tuning) {
  tuning->measured = 0;
  memset(tuning->mean, 0, sizeof tuning->mean);
  memset(tuning->square, 0, sizeof tuning->square);
}

/* Welford's updating of mean and squares. */
static void measure_position(post_tuning *tuning, int parameters, const double position[]) {
  tuning->measured++;
  for (int i = 0; i < parameters; i++) {
    double off = position[i] - tuning->mean[i];
    tuning->mean[i] += off / (double)tuning->measured;
    tuning->square[i] += off * (position[i] - tuning->mean[i]);
  }
}

/* The step size is in units of the widths: with new widths it is learnt anew.
 */
static void take_widths(post_tuning *tuning, int parameters) {
  for (int i = 0; i < parameters; i++)
    if (tuning->measured > 1 && tuning->square[i] > 0)
      tuning->width[i] = sqrt(tuning->square[i] / (double)(tuning->measured - 1));
  tuning->log_size = log(0.5);
  tuning->since = 0;
  forget_measured(tuning);
}

void post_tuning_learn(post_tuning *tuning, int64_t step, int64_t steps, double acceptance,
                       double target, int parameters,
                       const double position[POST_CHAINS][POST_PARAMETERS]) {
  tuning->since++;
  tuning->log_size += (acceptance - target) / pow((double)tuning->since, 0.6);
  if (step == steps / 8)
    forget_measured(tuning);
  for (int c = 0; c < POST_CHAINS; c++)
    measure_position(tuning, parameters, position[c]);
  if (step + 1 == steps / 4 || step + 1 == steps / 2)
    take_widths(tuning, parameters);
  int64_t last = steps - steps * 3 / 4;
  if (step >= steps - last)
    tuning->log_sum += tuning->log_size;
  if (step + 1 == steps)
    tuning->log_size = tuning->log_sum / (double)last;
}
