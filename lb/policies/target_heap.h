/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The rows that can take processes, as a heap with the longest time to go on top (of
 * equal ones the leftmost). */
#ifndef RGI_POLICIES_TARGET_HEAP_H
#define RGI_POLICIES_TARGET_HEAP_H

#include <regroup/policy.h>

typedef struct {
  int64_t row;
  int64_t ranks, more;    /* before, with those on their way; and what it gets */
  double before, seconds; /* to go, without `more` and with it */
  double busy;            /* processors that each process uses */
  int crosses;            /* it is on another node than the row that asks */
  double far;             /* seconds by which joining it takes longer therefore */
} rgi_target_heap_row;

typedef struct {
  const rg_load_table *table;
  rgi_target_heap_row *t;
  int64_t count;
  int64_t *heap, size; /* heap[0..size-1]; behind them the dropped ones */
  double free;         /* processors that no process uses; INFINITY: not known */
} rgi_target_heap;

/* Makes a heap of the rows that take processes and have give[row] 0 (give NULL: of all that take
 * some); t has them from left to right. Errors: RG_ERR_NOMEM. */
int rgi_target_heap_make(rgi_target_heap *heap, const rg_load_table *table, const int64_t give[]);
void rgi_target_heap_free(rgi_target_heap *heap);

/* Makes the heap anew out of t[0..count-1]. */
void rgi_target_heap_rebuild(rgi_target_heap *heap);

/* The target with the longest time to go, or NULL. */
rgi_target_heap_row *rgi_target_heap_top(const rgi_target_heap *heap);

/* Whether the target may get so many more, and would then end sooner by more than cost. */
int rgi_target_heap_gains(const rgi_target_heap *heap, const rgi_target_heap_row *row, int64_t more,
                          double cost);

/* The top gets so many more. */
void rgi_target_heap_give(rgi_target_heap *heap, int64_t more);

/* Drops the top from the heap; puts back the last `count` that were dropped. */
void rgi_target_heap_drop(rgi_target_heap *heap);
void rgi_target_heap_put_back(rgi_target_heap *heap, int64_t count);

#endif
