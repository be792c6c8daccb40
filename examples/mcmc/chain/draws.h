/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Draws from the posterior: on the ranks that made them, and all together on one rank. */
#ifndef POST_DRAWS_H
#define POST_DRAWS_H

#include <regroup.h>
#include <stdint.h>
#include <stdio.h>

#include "../models/model.h"

/* The draws of a rank: records of walker, number of the draw, then the quantities of each chain of
 * the walker. All zero: none. */
typedef struct {
  double *record;
  int64_t used, room; /* numbers */
} post_draws;

/* Adds a record: the caller fills the numbers that are returned. NULL: no memory. */
double *post_draws_add(post_draws *d, int64_t numbers);
void post_draws_free(post_draws *d);

/* All draws: value[(quantity * chains + chain) * samples + draw]. */
typedef struct {
  int quantities;
  int64_t chains, samples;
  double *value;
} post_draws_table;

/* One chain's draws of a quantity. */
static inline const double *post_draws_table_chain(const post_draws_table *t, int quantity,
                                                   int64_t chain) {
  return t->value + (quantity * t->chains + chain) * t->samples;
}

/* Puts the draws of all members together on rank 0, where t->value is to be freed
 * afterwards. t has the sizes set; per_walker chains make a walker. Collective
 * over g. Errors: RG_ERR_MISMATCH (a draw is missing, or there twice; on
 * rank 0), RG_ERR_NOMEM, those of rg_gatherv. */
int post_draws_gather(rg_group g, const post_draws *d, int per_walker, post_draws_table *t);

/* FNV-1a of all bits, draw by draw: the same wherever the draws were made. */
uint64_t post_draws_table_checksum(const post_draws_table *t);

/* As text: a line for each draw with chain, draw and the quantities, all digits;
 * or as doubles of this machine, in the same order, without chain and draw.
 * Returns 1, or 0 if f could not be written. Neither closes f. */
int post_draws_table_csv(const post_draws_table *t, const char *const labels[], FILE *f);
int post_draws_table_binary(const post_draws_table *t, FILE *f);

#endif
