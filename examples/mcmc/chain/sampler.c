/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Both samplers work on all chains of a walker at once, since an evaluation for all costs as many
 * messages as for one. Random numbers depend on seed, chain and step only, so every member takes
 * the same decisions. */
#include "sampler.h"

#include <math.h>
#include <regroup/random.h>
#include <string.h>

enum { ACCEPT, JITTER }; /* uniform draws of a step */
enum { MOST_LEAPS = 32 };

/* Each chain is a walker of rg_random's. */
static rg_random stream_of(uint64_t seed, const post_walker_state *s, int chain, uint64_t draw) {
  return (rg_random){seed, (uint64_t)(s->walker * POST_CHAINS + chain), (uint64_t)s->step, draw};
}

static double draw_uniform(uint64_t seed, const post_walker_state *s, int chain, uint64_t draw) {
  rg_random r = stream_of(seed, s, chain, draw);
  double x = 0;
  rg_random_uniform(&r, 1, &x);
  return x;
}

static void draw_normals(uint64_t seed, const post_walker_state *s, int chain, int n,
                         double out[]) {
  rg_random r = stream_of(seed, s, chain, 0);
  rg_random_normal(&r, n, out);
}

/* Accepts or rejects the proposals. One whose density is not a number is rejected. */
static void accept_proposals(uint64_t seed, post_walker_state *s,
                             double to[POST_CHAINS][POST_PARAMETERS],
                             const post_density value[POST_CHAINS], const double gain[POST_CHAINS],
                             double *acceptance, int *accepted) {
  *acceptance = 0;
  *accepted = 0;
  for (int c = 0; c < POST_CHAINS; c++) {
    double probability = gain[c] >= 0 ? 1 : exp(gain[c]);
    if (isnan(probability))
      probability = 0;
    *acceptance += probability / POST_CHAINS;
    if (draw_uniform(seed, s, c, ACCEPT) >= probability)
      continue;
    memcpy(s->position[c], to[c], sizeof to[c]);
    s->value[c] = value[c];
    ++*accepted;
  }
}

int post_sampler_metropolis(rg_group g, const post_model *m, uint64_t seed, post_walker_state *s,
                            double *acceptance, int *accepted) {
  double to[POST_CHAINS][POST_PARAMETERS] = {{0}}, z[POST_PARAMETERS], gain[POST_CHAINS];
  post_density value[POST_CHAINS] = {{0, {0}}};
  double size = exp(s->tuning.log_size);
  for (int c = 0; c < POST_CHAINS; c++) {
    draw_normals(seed, s, c, m->parameters, z);
    for (int i = 0; i < m->parameters; i++)
      to[c][i] = s->position[c][i] + size * s->tuning.width[i] * z[i];
  }
  int error = post_density_evaluate(g, m, to, 0, value);
  if (error)
    return error;
  for (int c = 0; c < POST_CHAINS; c++)
    gain[c] = value[c].log_density - s->value[c].log_density;
  accept_proposals(seed, s, to, value, gain, acceptance, accepted);
  return RG_SUCCESS;
}

/* --- Hamiltonian ------------------------------------------------------------------------- */

/* Positions and momenta of all chains during the leapfrog steps. Positions are in units of the
 * widths, so that all masses are 1. */
typedef struct {
  double position[POST_CHAINS][POST_PARAMETERS], momentum[POST_CHAINS][POST_PARAMETERS];
  double size[POST_CHAINS];
  post_density value[POST_CHAINS];
} hmc_leaps;

static double kinetic_energy(const double momentum[], int parameters) {
  double sum = 0;
  for (int i = 0; i < parameters; i++)
    sum += momentum[i] * momentum[i] / 2;
  return sum;
}

static void start_leaps(const post_model *m, uint64_t seed, const post_walker_state *s,
                        hmc_leaps *f) {
  memcpy(f->position, s->position, sizeof f->position);
  memcpy(f->value, s->value, sizeof f->value);
  for (int c = 0; c < POST_CHAINS; c++) {
    draw_normals(seed, s, c, m->parameters, f->momentum[c]);
    f->size[c] = exp(s->tuning.log_size) * (0.8 + 0.4 * draw_uniform(seed, s, c, JITTER));
  }
}

static void kick_momenta(const post_model *m, const post_walker_state *s, double share,
                         hmc_leaps *f) {
  for (int c = 0; c < POST_CHAINS; c++)
    for (int i = 0; i < m->parameters; i++)
      f->momentum[c][i] += share * f->size[c] * s->tuning.width[i] * f->value[c].gradient[i];
}

static void drift_positions(const post_model *m, const post_walker_state *s, hmc_leaps *f) {
  for (int c = 0; c < POST_CHAINS; c++)
    for (int i = 0; i < m->parameters; i++)
      f->position[c][i] += f->size[c] * s->tuning.width[i] * f->momentum[c][i];
}

static int leaps_of(const post_walker_state *s) {
  double leaps = ceil(1.5 / exp(s->tuning.log_size));
  return leaps < MOST_LEAPS ? (int)leaps : MOST_LEAPS;
}

int post_sampler_hmc(rg_group g, const post_model *m, uint64_t seed, post_walker_state *s,
                     double *acceptance, int *accepted) {
  hmc_leaps f;
  double before[POST_CHAINS], gain[POST_CHAINS];
  int leaps = leaps_of(s), error;
  start_leaps(m, seed, s, &f);
  for (int c = 0; c < POST_CHAINS; c++)
    before[c] = s->value[c].log_density - kinetic_energy(f.momentum[c], m->parameters);
  kick_momenta(m, s, 0.5, &f);
  for (int leap = 1; leap <= leaps; leap++) {
    drift_positions(m, s, &f);
    if ((error = post_density_evaluate(g, m, f.position, 1, f.value)))
      return error;
    kick_momenta(m, s, leap < leaps ? 1 : 0.5, &f);
  }
  for (int c = 0; c < POST_CHAINS; c++)
    gain[c] = f.value[c].log_density - kinetic_energy(f.momentum[c], m->parameters) - before[c];
  accept_proposals(seed, s, f.position, f.value, gain, acceptance, accepted);
  return RG_SUCCESS;
}
