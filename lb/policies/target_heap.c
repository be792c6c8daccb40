/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A binary heap of the rows that take processes, ordered by the time to go. Rows that are dropped
 * stay behind the heap in the same array, so that the last ones can come back. */
#include "policies/target_heap.h"

#include <stdlib.h>

#include "base/error.h"
#include "policies/load.h"

static int ends_later(const rgi_target_heap *heap, int64_t first, int64_t second) {
  const rgi_target_heap_row *x = &heap->t[heap->heap[first]], *y = &heap->t[heap->heap[second]];
  double x_ends = x->seconds - x->far, y_ends = y->seconds - y->far;
  if (x_ends != y_ends)
    return x_ends > y_ends;
  return x->crosses != y->crosses ? y->crosses : x->row < y->row;
}

static void swap_targets(rgi_target_heap *heap, int64_t a, int64_t b) {
  int64_t kept = heap->heap[a];
  heap->heap[a] = heap->heap[b];
  heap->heap[b] = kept;
}

static void sift_down(rgi_target_heap *heap, int64_t at) {
  for (int64_t child; (child = 2 * at + 1) < heap->size; at = child) {
    if (child + 1 < heap->size && ends_later(heap, child + 1, child))
      child++;
    if (!ends_later(heap, child, at))
      return;
    swap_targets(heap, at, child);
  }
}

void rgi_target_heap_rebuild(rgi_target_heap *heap) {
  for (heap->size = 0; heap->size < heap->count; heap->size++)
    heap->heap[heap->size] = heap->size;
  for (int64_t i = heap->size / 2 - 1; i >= 0; i--)
    sift_down(heap, i);
}

int rgi_target_heap_make(rgi_target_heap *heap, const rg_load_table *table, const int64_t give[]) {
  size_t room = (size_t)table->count + 1;
  *heap = (rgi_target_heap){.table = table,
                            .free = rgi_load_free_processors(table),
                            .t = malloc(room * sizeof *heap->t),
                            .heap = malloc(room * sizeof *heap->heap)};
  if (!heap->t || !heap->heap) {
    rgi_target_heap_free(heap);
    return rgi_error(RG_ERR_NOMEM, "a policy: no memory for %lld rows", (long long)table->count);
  }
  for (int64_t row = 0; row < table->count; row++) {
    const rg_load *load = &table->load[row];
    if (!rgi_load_takes(load) || (give && give[row] != 0))
      continue;
    int64_t ranks = load->ranks + load->coming;
    double seconds = rgi_load_seconds(load, ranks);
    int crosses = table->self != RG_LOAD_ALL_ROWS && rgi_load_crosses(table, table->self, row);
    double far = crosses ? rgi_load_crossing(table, table->self, row) : 0;
    heap->t[heap->count++] = (rgi_target_heap_row){.row = row,
                                                   .ranks = ranks,
                                                   .before = seconds,
                                                   .seconds = seconds,
                                                   .busy = load->busy,
                                                   .crosses = crosses,
                                                   .far = far};
  }
  rgi_target_heap_rebuild(heap);
  return RG_SUCCESS;
}

void rgi_target_heap_free(rgi_target_heap *heap) {
  free(heap->t);
  free(heap->heap);
  heap->t = NULL;
  heap->heap = NULL;
}

rgi_target_heap_row *rgi_target_heap_top(const rgi_target_heap *heap) {
  return heap->size > 0 ? &heap->t[heap->heap[0]] : NULL;
}

int rgi_target_heap_gains(const rgi_target_heap *heap, const rgi_target_heap_row *row, int64_t more,
                          double cost) {
  const rg_load *load = &heap->table->load[row->row];
  int64_t ranks = row->ranks + row->more + more;
  return (!load->most || ranks <= load->most) &&
         rgi_load_seconds(load, ranks) + cost + row->far < row->seconds;
}

void rgi_target_heap_give(rgi_target_heap *heap, int64_t more) {
  rgi_target_heap_row *row = rgi_target_heap_top(heap);
  row->more += more;
  heap->free -= row->busy * (double)more;
  row->seconds = rgi_load_seconds(&heap->table->load[row->row], row->ranks + row->more);
  sift_down(heap, 0);
}

void rgi_target_heap_drop(rgi_target_heap *heap) {
  swap_targets(heap, 0, --heap->size);
  sift_down(heap, 0);
}

void rgi_target_heap_put_back(rgi_target_heap *heap, int64_t count) {
  for (; count > 0; count--)
    for (int64_t at = heap->size++; at > 0 && ends_later(heap, at, (at - 1) / 2); at = (at - 1) / 2)
      swap_targets(heap, at, (at - 1) / 2);
}
