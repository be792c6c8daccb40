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
static int64_t hand_out(rgi_target_heap *s, int64_t free) {
  const rgi_target_heap_row *t;
  rgi_target_heap_rebuild(s);
  while (free > 0 && (t = rgi_target_heap_top(s))) {
    if (s->free >= t->busy / 2 && s->free > 0 && rgi_target_heap_gains(s, t, 1, 0)) {
      rgi_target_heap_give(s, 1);
      free--;
    } else {
      rgi_target_heap_drop(s);
    }
  }
  return free;
}

static int too_dear(const rgi_target_heap *s, const rgi_target_heap_row *t, double cost) {
  if (s->table->load[t->row].coming > 0)
    cost = 0;
  return t->more > 0 && t->seconds + cost + t->far >= t->before;
}

/* Takes the processes back from targets for which joining costs more than it gains, and drops these
 * targets. If that is all of them, the one that takes longest may try with all processes. Returns
 * how many are free again. */
static int64_t take_back(rgi_target_heap *s, double cost) {
  int64_t served = 0, dear = 0, longest = 0, kept = 0, free = 0;
  for (int64_t i = 0; i < s->count; i++) {
    served += s->t[i].more > 0;
    dear += too_dear(s, &s->t[i], cost);
    longest = s->t[i].before > s->t[longest].before ? i : longest;
  }
  int last_try = dear == served && served > 1;
  for (int64_t i = 0; i < s->count; i++) {
    rgi_target_heap_row t = s->t[i];
    int drop = last_try ? i != longest : too_dear(s, &t, cost);
    if (drop || last_try) {
      free += t.more;
      s->free += t.busy * (double)t.more;
      t.more = 0;
      t.seconds = t.before;
    }
    if (!drop)
      s->t[kept++] = t;
  }
  s->count = kept;
  return free;
}

static void fill_targets(rgi_target_heap *s, int64_t free, double cost) {
  while (free > 0 && s->count > 0) {
    int64_t left = hand_out(s, free);
    free = take_back(s, cost);
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
static int move_from(division_giver *g, rgi_target_heap_row *t, rg_plan *plan) {
  int64_t ranks = t->more < g->left ? t->more : g->left;
  if (ranks <= 0)
    return RG_SUCCESS;
  t->more -= ranks;
  g->left -= ranks;
  return rg_plan_add(plan, &(rg_move){g->row, t->row, ranks, RG_MOVE_NO_WALKER, {0}});
}

static int64_t first_of_node(const division_giver g[], int64_t count, int node) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (g[middle].node < node)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Each target gets processes of its own node, as far as there are any. */
static int move_inside(const rgi_target_heap *s, division_giver g[], int64_t count, rg_plan *plan) {
  for (int64_t i = 0; i < s->count; i++) {
    int node = s->table->load[s->t[i].row].node;
    int64_t first = node > 0 ? first_of_node(g, count, node) : count;
    while (first < count && s->t[i].more > 0) {
      int64_t at = first + g[first].next;
      if (at == count || g[at].node != node)
        break;
      RGI_TRY(move_from(&g[at], &s->t[i], plan));
      g[first].next += g[at].left == 0;
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
static int write_moves(const rgi_target_heap *s, const int64_t give[], rg_plan *plan) {
  int64_t rows = s->table->count, count = 0, from = 0;
  int error = RG_SUCCESS;
  division_giver *g = malloc((size_t)rows * sizeof *g);
  if (!g)
    return rgi_error(RG_ERR_NOMEM, "a policy: no memory for %lld rows", (long long)rows);
  for (int64_t row = 0; row < rows; row++)
    if (give[row] > 0)
      g[count++] = (division_giver){row, give[row], 0, s->table->load[row].node};
  if (s->table->self == RG_LOAD_ALL_ROWS) {
    qsort(g, (size_t)count, sizeof *g, by_node);
    error = move_inside(s, g, count, plan);
    qsort(g, (size_t)count, sizeof *g, by_row);
  }
  for (int64_t i = 0; i < s->count && !error; i++)
    while (s->t[i].more > 0 && from < count && !error) {
      error = move_from(&g[from], &s->t[i], plan);
      from += g[from].left == 0;
    }
  free(g);
  return error;
}

int rgi_free_ranks_divide(const rg_load_table *table, const int64_t give[], double cost,
                          rg_plan *plan) {
  int64_t free_ranks = 0;
  rgi_target_heap s;
  for (int64_t row = 0; row < table->count; row++)
    free_ranks += give[row] > 0 ? give[row] : 0;
  if (free_ranks == 0)
    return RG_SUCCESS;
  RGI_TRY(rgi_target_heap_make(&s, table, give));
  fill_targets(&s, free_ranks, cost);
  if (table->self != RG_LOAD_ALL_ROWS)
    qsort(s.t, (size_t)s.count, sizeof *s.t, by_time);
  int error = write_moves(&s, give, plan);
  rgi_target_heap_free(&s);
  return error;
}
