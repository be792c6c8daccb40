/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Draws from the posterior: records of walker, number of the draw, and the
 * quantities of each chain of the walker. */
#ifndef POST_DRAWS_H
#define POST_DRAWS_H

#include <stdint.h>

typedef struct {
  int length; /* numbers of a record */
  int64_t used, room;
  double *number;
} post_draws;

/* Adds room for so many numbers, which the caller fills. NULL: no memory. */
double *post_draws_add(post_draws *draws, int64_t numbers);
void post_draws_free(post_draws *draws);
/* Brings the records of so many walkers into their order. RG_ERR_MISMATCH: one
 * of the samples of a walker is missing, or there twice. */
int post_draws_sort(post_draws *draws, int64_t walkers, int64_t samples);
/* FNV-1a of all bits: of sorted draws the same wherever they were made. */
uint64_t post_draws_checksum(const post_draws *draws);

#endif
