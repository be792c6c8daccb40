/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker: a random walk in the unit square with wrapped edges. Positions are
 * whole numbers of 2^-64, so that the sum of many steps does not depend on who
 * adds which of them in what order. Every step is a pure function of (seed, key,
 * sample), and every step is accepted. */
#ifndef MCMC_WALK_H
#define MCMC_WALK_H

#include <stdint.h>

typedef struct {
  uint64_t x, y;
} mcmc_walk_position;

/* Where the walker with this key starts. */
mcmc_walk_position mcmc_walk_start(uint64_t seed, uint64_t key);

/* The sum of the steps of the samples first, first + stride, ... below end
 * (samples are numbered from 0). */
mcmc_walk_position mcmc_walk_steps(uint64_t seed, uint64_t key, int64_t first, int64_t end,
                                   int64_t stride);

/* A walker's part of the checksum; the parts are added, in any order. */
uint64_t mcmc_walk_fingerprint(uint64_t key, mcmc_walk_position state);

/* The square is divided into MCMC_WALK_SIDE times MCMC_WALK_SIDE cells: the one of a position, as
 * row and column; and a walker's part of the checksum of how often it was in each of them. */
enum { MCMC_WALK_SIDE = 8, MCMC_WALK_CELLS = MCMC_WALK_SIDE * MCMC_WALK_SIDE };
void mcmc_walk_cell(mcmc_walk_position state, int64_t at[2]);
uint64_t mcmc_walk_visits_fingerprint(uint64_t key, const int64_t visits[MCMC_WALK_CELLS]);

#endif
