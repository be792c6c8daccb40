/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The rows that can take processes, as a heap with the longest time to go on top (of
 * equal ones the leftmost). */
#ifndef RGI_POLICIES_TARGETS_H
#define RGI_POLICIES_TARGETS_H

#include "policies/table.h"

typedef struct {
  int row;
  int64_t ranks, more;    /* before, with those on their way; and what it gets */
  double before, seconds; /* to go, without `more` and with it */
} rgi_target;

typedef struct {
  const rg_load_table *table;
  rgi_target *t;
  int count;
  int *heap, size; /* heap[0..size-1]; behind them those that were dropped */
} rgi_targets;

/* All rows that take processes and have give[row] 0 (give NULL: all that take some),
 * from left to right, and a heap of them. Errors: RG_ERR_NOMEM. */
int rgi_targets_find(rgi_targets *s, const rg_load_table *table, const int64_t give[]);
void rgi_targets_free(rgi_targets *s);

/* Makes the heap anew out of t[0..count-1]. */
void rgi_targets_heap(rgi_targets *s);

/* The target with the longest time to go, or NULL. */
rgi_target *rgi_targets_top(const rgi_targets *s);

/* Whether the target may get so many more, and would end sooner by more than cost. */
int rgi_target_gains(const rgi_targets *s, const rgi_target *t, int64_t more, double cost);

/* The top gets so many more. */
void rgi_targets_give(rgi_targets *s, int64_t more);

/* The top leaves the heap; the last `count` that left come back. */
void rgi_targets_drop(rgi_targets *s);
void rgi_targets_put_back(rgi_targets *s, int count);

#endif
