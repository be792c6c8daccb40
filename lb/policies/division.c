/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each free process goes to the target that would take longest, found on top of a heap, until no
 * process is free or none shortens a time. Then targets that gain less by all they got than joining
 * costs are dropped, and their processes are divided anew; since each pass drops a target, this
 * ends. */
#include "policies/free_ranks.h"

#include <stdlib.h>

#include "base/error.h"
#include "policies/target_heap.h"

/* Gives processes one by one to the target that takes longest. Returns how many are left over. */
static int64_t hand_out(rgi_target_heap *heap, int64_t free) {
  const rgi_target_heap_row *row;
  rgi_target_heap_rebuild(heap);
  while (free > 0 && (row = rgi_target_heap_top(heap))) {
    if (heap->free >= row->busy / 2 && heap->free > 0 && rgi_target_heap_gains(heap, row, 1, 0)) {
      rgi_target_heap_give(heap, 1);
      free--;
    } else {
      rgi_target_heap_drop(heap);
    }
  }
  return free;
}

static int too_dear(const rgi_target_heap *heap, const rgi_target_heap_row *row, double cost) {
  if (heap->table->load[row->row].coming > 0)
    cost = 0;
  return row->more > 0 && row->seconds + cost + row->far >= row->before;
}

/* Takes the processes back from targets for which joining costs more than it gains, and drops these
 * targets. If that is all of them, the one that takes longest may try with all processes. Returns
 * how many are free again. */
static int64_t take_back(rgi_target_heap *heap, double cost) {
  int64_t served = 0, dear = 0, longest = 0, kept = 0, free = 0;
  for (int64_t i = 0; i < heap->count; i++) {
    served += heap->t[i].more > 0;
    dear += too_dear(heap, &heap->t[i], cost);
    longest = heap->t[i].before > heap->t[longest].before ? i : longest;
  }
  int last_try = dear == served && served > 1;
  for (int64_t i = 0; i < heap->count; i++) {
    rgi_target_heap_row row = heap->t[i];
    int drop = last_try ? i != longest : too_dear(heap, &row, cost);
    if (drop || last_try) {
      free += row.more;
      heap->free += row.busy * (double)row.more;
      row.more = 0;
      row.seconds = row.before;
    }
    if (!drop)
      heap->t[kept++] = row;
  }
  heap->count = kept;
  return free;
}

static void fill_targets(rgi_target_heap *heap, int64_t free, double cost) {
  while (free > 0 && heap->count > 0) {
    int64_t left = hand_out(heap, free);
    free = take_back(heap, cost);
    if (free == 0)
      return;
    free += left;
  }
}

static int by_time(const void *a, const void *b) {
  const rgi_target_heap_row *x = a, *y = b;
  double x_ends = x->before - x->far, y_ends = y->before - y->far;
  if (x_ends != y_ends)
    return x_ends < y_ends ? 1 : -1;
  if (x->crosses != y->crosses)
    return x->crosses ? 1 : -1;
  return (x->row > y->row) - (x->row < y->row);
}

/* What a row still gives. */
typedef struct {
  int64_t row, left;
  int64_t next; /* of the first one of a node: the first that may still give; else 0 */
  int node;
} division_giver;

static int by_node(const void *a, const void *b) {
  const division_giver *x = a, *y = b;
  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

/* The target gets processes of a giver, as many as it still wants. */
static int move_from(division_giver *giver, rgi_target_heap_row *row, rg_plan *plan) {
  int64_t ranks = row->more < giver->left ? row->more : giver->left;
  if (ranks <= 0)
    return RG_SUCCESS;
  row->more -= ranks;
  giver->left -= ranks;
  return rg_plan_add(
      plan,
      &(rg_move){.from = giver->row, .to = row->row, .ranks = ranks, .walker = RG_MOVE_NO_WALKER});
}

static int64_t first_of_node(const division_giver giver[], int64_t count, int node) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (giver[middle].node < node)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Each target gets processes of its own node, as far as there are any. */
static int move_inside(const rgi_target_heap *heap, division_giver giver[], int64_t count,
                       rg_plan *plan) {
  for (int64_t i = 0; i < heap->count; i++) {
    int node = heap->table->load[heap->t[i].row].node;
    int64_t first = node > 0 ? first_of_node(giver, count, node) : count;
    while (first < count && heap->t[i].more > 0) {
      int64_t at = first + giver[first].next;
      if (at == count || giver[at].node != node)
        break;
      RGI_TRY(move_from(&giver[at], &heap->t[i], plan));
      giver[first].next += giver[at].left == 0;
    }
  }
  return RG_SUCCESS;
}

static int by_row(const void *a, const void *b) {
  const division_giver *x = a, *y = b;
  return (x->row > y->row) - (x->row < y->row);
}

/* Writes what the targets get as moves: inside nodes first, then from the rows that give in their
 * order. */
static int write_moves(const rgi_target_heap *heap, const int64_t give[], rg_plan *plan) {
  int64_t rows = heap->table->count, count = 0, from = 0;
  int error = RG_SUCCESS;
  division_giver *giver = malloc((size_t)rows * sizeof *giver);
  if (!giver)
    return rgi_error(RG_ERR_NOMEM, "a policy: no memory for %lld rows", (long long)rows);
  for (int64_t row = 0; row < rows; row++)
    if (give[row] > 0)
      giver[count++] =
          (division_giver){.row = row, .left = give[row], .node = heap->table->load[row].node};
  if (heap->table->self == RG_LOAD_ALL_ROWS) {
    qsort(giver, (size_t)count, sizeof *giver, by_node);
    error = move_inside(heap, giver, count, plan);
    qsort(giver, (size_t)count, sizeof *giver, by_row);
  }
  for (int64_t i = 0; i < heap->count && !error; i++)
    while (heap->t[i].more > 0 && from < count && !error) {
      error = move_from(&giver[from], &heap->t[i], plan);
      from += giver[from].left == 0;
    }
  free(giver);
  return error;
}

int rgi_free_ranks_divide(const rg_load_table *table, const int64_t give[], double cost,
                          rg_plan *plan) {
  int64_t free_ranks = 0;
  rgi_target_heap heap;
  for (int64_t row = 0; row < table->count; row++)
    free_ranks += give[row] > 0 ? give[row] : 0;
  if (free_ranks == 0)
    return RG_SUCCESS;
  RGI_TRY(rgi_target_heap_make(&heap, table, give));
  fill_targets(&heap, free_ranks, cost);
  if (table->self != RG_LOAD_ALL_ROWS)
    qsort(heap.t, (size_t)heap.count, sizeof *heap.t, by_time);
  int error = write_moves(&heap, give, plan);
  rgi_target_heap_free(&heap);
  return error;
}
