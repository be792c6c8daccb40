/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker: a random walk in the unit square with wrapped edges. Positions are
 * whole numbers of 2^-64, so that the sum of many steps does not depend on which
 * rank adds which of them, and in what order. Every step is a pure function of (seed, key,
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

/* A walker's part of the checksum. The parts are added, in any order. */
uint64_t mcmc_walk_fingerprint(uint64_t key, mcmc_walk_position position);

/* The square has MCMC_WALK_SIDE times MCMC_WALK_SIDE cells. The cell of a position, as row and
 * column; and a walker's part of the checksum of the visits to all cells. */
enum { MCMC_WALK_SIDE = 8, MCMC_WALK_CELLS = MCMC_WALK_SIDE * MCMC_WALK_SIDE };
void mcmc_walk_cell(mcmc_walk_position position, int64_t at[2]);
uint64_t mcmc_walk_visits_fingerprint(uint64_t key, const int64_t visits[MCMC_WALK_CELLS]);

#endif
