/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Random numbers as a pure function of (seed, chain, step, draw): Philox 4x64
 * (Salmon et al., SC 2011). A draw is the same on whatever rank, and whenever, it is computed.
 * Chain UINT64_MAX is that of the models' data. */
#ifndef POST_RANDOM_H
#define POST_RANDOM_H

#include <stdint.h>

typedef struct {
  uint64_t seed, chain, step;
} post_random_stream;

/* Uniform in (0, 1), neither end included. Draws from 0 on. */
double post_random_uniform(post_random_stream at, uint64_t draw);

/* The first n standard normal numbers of the stream, apart from all uniform
 * ones. */
void post_random_normals(post_random_stream at, int n, double out[]);

#endif
