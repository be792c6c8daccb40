/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * An idle group joins the group that has the longest time to go, reckoned with the
 * processes that are on their way to it, if that gains more than it costs. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "policies/load.h"
#include "policies/policy.h"
#include "policies/target_heap.h"

/* The first target from the top that gains by so many processes gets all of them. */
static int join_longest(rgi_target_heap *heap, int64_t row, int64_t ranks, rg_plan *plan) {
  int64_t dropped = 0;
  int error = RG_SUCCESS;
  const rgi_target_heap_row *top = rgi_target_heap_top(heap);
  while (top && !rgi_target_heap_gains(heap, top, ranks, heap->table->merge)) {
    rgi_target_heap_drop(heap);
    dropped++;
    top = rgi_target_heap_top(heap);
  }
  if (top) {
    error = rg_plan_add(
        plan, &(rg_move){.from = row, .to = top->row, .ranks = ranks, .walker = RG_MOVE_NO_WALKER});
    rgi_target_heap_give(heap, ranks);
  }
  rgi_target_heap_put_back(heap, dropped);
  return error;
}

static int descending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x < y) - (x > y);
}

/* The sizes of groups that join, each once; sizes[0] is their number. NULL: no memory. */
static int64_t *list_sizes(const int64_t left[], int64_t rows) {
  int64_t *sizes = malloc(((size_t)rows + 1) * sizeof *sizes), n = 0;
  if (!sizes)
    return NULL;
  memcpy(sizes + 1, left, (size_t)rows * sizeof *left);
  qsort(sizes + 1, (size_t)rows, sizeof *sizes, descending);
  for (int64_t i = 1; i <= rows && sizes[i] > 0; i++)
    if (n == 0 || sizes[i] != sizes[n])
      sizes[++n] = sizes[i];
  sizes[0] = n;
  return sizes;
}

/* A size that helped no target is not tried again: a target that has got others gains less. */
static int join_all(rgi_target_heap *heap, const int64_t left[], rg_plan *plan) {
  int64_t rows = heap->table->count, *sizes = list_sizes(left, rows);
  char *useless = calloc((size_t)rows + 1, 1);
  int error = sizes && useless
                  ? RG_SUCCESS
                  : rgi_error(RG_ERR_NOMEM, "most-work: no memory for %lld rows", (long long)rows);
  for (int64_t row = 0; row < rows && !error; row++) {
    int64_t before = plan->count;
    const int64_t *size =
        left[row] ? bsearch(&left[row], sizes + 1, (size_t)sizes[0], sizeof *sizes, descending)
                  : NULL;
    if (!size || useless[size - sizes])
      continue;
    error = join_longest(heap, row, left[row], plan);
    useless[size - sizes] = plan->count == before;
  }
  free(sizes);
  free(useless);
  return error;
}

int rgi_policy_most_work(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  rgi_target_heap heap;
  int64_t *left = calloc((size_t)table->count + 1, sizeof *left);
  (void)policy;
  if (!left)
    return rgi_error(RG_ERR_NOMEM, "most-work: no memory for %lld rows", (long long)table->count);
  int error = rgi_load_start_waiting(table, plan, left);
  if (!error)
    error = rgi_target_heap_make(&heap, table, NULL);
  if (!error) {
    error = join_all(&heap, left, plan);
    rgi_target_heap_free(&heap);
  }
  free(left);
  return error;
}
