/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "walk.h"

#include <Random123/philox.h>

/* Draw number 0 of a walker is its start; sample s has draw s + 1. */
static mcmc_walk_position draw_random(uint64_t seed, uint64_t key, uint64_t number) {
  philox2x64_ctr_t counter = {{number, key}};
  philox2x64_key_t philox_key = {{seed}};
  philox2x64_ctr_t r = philox2x64(counter, philox_key);
  return (mcmc_walk_position){r.v[0], r.v[1]};
}

mcmc_walk_position mcmc_walk_start(uint64_t seed, uint64_t key) {
  return draw_random(seed, key, 0);
}

/* A step goes up to 1/128 of the square's side each way. */
static uint64_t step_from(uint64_t random) {
  return (random >> 6) - (UINT64_C(1) << 57);
}

mcmc_walk_position mcmc_walk_steps(uint64_t seed, uint64_t key, int64_t first, int64_t end,
                                   int64_t stride) {
  mcmc_walk_position sum = {0, 0};
  for (int64_t sample = first; sample < end; sample += stride) {
    mcmc_walk_position r = draw_random(seed, key, (uint64_t)sample + 1);
    sum.x += step_from(r.x);
    sum.y += step_from(r.y);
  }
  return sum;
}

uint64_t mcmc_walk_fingerprint(uint64_t key, mcmc_walk_position position) {
  philox2x64_ctr_t counter = {{position.x, position.y}};
  philox2x64_key_t philox_key = {{key}};
  philox2x64_ctr_t r = philox2x64(counter, philox_key);
  return r.v[0] ^ r.v[1];
}

void mcmc_walk_cell(mcmc_walk_position position, int64_t at[2]) {
  at[0] = (int64_t)(position.x >> 61);
  at[1] = (int64_t)(position.y >> 61);
}

uint64_t mcmc_walk_visits_fingerprint(uint64_t key, const int64_t visits[MCMC_WALK_CELLS]) {
  uint64_t sum = 0;
  for (uint64_t cell = 0; cell < MCMC_WALK_CELLS; cell++)
    sum += mcmc_walk_fingerprint(key, (mcmc_walk_position){cell, (uint64_t)visits[cell]});
  return sum;
}
