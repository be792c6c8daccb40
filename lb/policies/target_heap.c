/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A binary heap of the rows that take processes, ordered by the time to go. Rows that are dropped
 * stay behind the heap in the same array, so that the last ones can come back. */
#include "policies/target_heap.h"

#include <stdlib.h>

#include "base/error.h"
#include "policies/load.h"

static int ends_later(const rgi_target_heap *s, int64_t first, int64_t second) {
  const rgi_target_heap_row *x = &s->t[s->heap[first]], *y = &s->t[s->heap[second]];
  double x_ends = x->seconds - x->far, y_ends = y->seconds - y->far;
  if (x_ends != y_ends)
    return x_ends > y_ends;
  return x->crosses != y->crosses ? y->crosses : x->row < y->row;
}

static void swap_targets(rgi_target_heap *s, int64_t a, int64_t b) {
  int64_t kept = s->heap[a];
  s->heap[a] = s->heap[b];
  s->heap[b] = kept;
}

static void sift_down(rgi_target_heap *s, int64_t at) {
  for (int64_t child; (child = 2 * at + 1) < s->size; at = child) {
    if (child + 1 < s->size && ends_later(s, child + 1, child))
      child++;
    if (!ends_later(s, child, at))
      return;
    swap_targets(s, at, child);
  }
}

void rgi_target_heap_rebuild(rgi_target_heap *s) {
  for (s->size = 0; s->size < s->count; s->size++)
    s->heap[s->size] = s->size;
  for (int64_t i = s->size / 2 - 1; i >= 0; i--)
    sift_down(s, i);
}

int rgi_target_heap_make(rgi_target_heap *s, const rg_load_table *table, const int64_t give[]) {
  size_t room = (size_t)table->count + 1;
  *s = (rgi_target_heap){.table = table,
                         .free = rgi_load_free_processors(table),
                         .t = malloc(room * sizeof *s->t),
                         .heap = malloc(room * sizeof *s->heap)};
  if (!s->t || !s->heap) {
    rgi_target_heap_free(s);
    return rgi_error(RG_ERR_NOMEM, "a policy: no memory for %lld rows", (long long)table->count);
  }
  for (int64_t row = 0; row < table->count; row++) {
    const rg_load *l = &table->load[row];
    if (!rgi_load_takes(l) || (give && give[row] != 0))
      continue;
    int64_t ranks = l->ranks + l->coming;
    double seconds = rgi_load_seconds(l, ranks);
    int crosses = table->self != RG_LOAD_ALL_ROWS && rgi_load_crosses(table, table->self, row);
    double far = crosses ? rgi_load_crossing(table, table->self, row) : 0;
    s->t[s->count++] =
        (rgi_target_heap_row){row, ranks, 0, seconds, seconds, l->busy, crosses, far};
  }
  rgi_target_heap_rebuild(s);
  return RG_SUCCESS;
}

void rgi_target_heap_free(rgi_target_heap *s) {
  free(s->t);
  free(s->heap);
  s->t = NULL;
  s->heap = NULL;
}

rgi_target_heap_row *rgi_target_heap_top(const rgi_target_heap *s) {
  return s->size > 0 ? &s->t[s->heap[0]] : NULL;
}

int rgi_target_heap_gains(const rgi_target_heap *s, const rgi_target_heap_row *t, int64_t more,
                          double cost) {
  const rg_load *l = &s->table->load[t->row];
  int64_t ranks = t->ranks + t->more + more;
  return (!l->most || ranks <= l->most) && rgi_load_seconds(l, ranks) + cost + t->far < t->seconds;
}

void rgi_target_heap_give(rgi_target_heap *s, int64_t more) {
  rgi_target_heap_row *t = rgi_target_heap_top(s);
  t->more += more;
  s->free -= t->busy * (double)more;
  t->seconds = rgi_load_seconds(&s->table->load[t->row], t->ranks + t->more);
  sift_down(s, 0);
}

void rgi_target_heap_drop(rgi_target_heap *s) {
  swap_targets(s, 0, --s->size);
  sift_down(s, 0);
}

void rgi_target_heap_put_back(rgi_target_heap *s, int64_t count) {
  for (; count > 0; count--)
    for (int64_t at = s->size++; at > 0 && ends_later(s, at, (at - 1) / 2); at = (at - 1) / 2)
      swap_targets(s, at, (at - 1) / 2);
}
