/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Idle processes, and those that active groups can spare or are faster without, first start walkers
 * that wait; the others are divided among the active groups so that these end together. */
#include "policies/free_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "policies/load.h"
#include "policies/waiting.h"

typedef struct {
  const rg_load_table *t;
  double cost, gain;
  int full;           /* no processor is free */
  int64_t first, end; /* the rows that may give */
  int64_t *left;      /* what each of them still gives */
  int64_t *give;      /* to other rows (division.h) */
} free_ranks_state;

/* The processes that an active row does not need: its unit was as short at a smaller size, or no
 * processor is free, so that a larger group only takes from the others what it gains. *faster: it
 * was shorter there, or all could be faster. */
static int64_t surplus_of(const free_ranks_state *s, const rg_load *l, int *faster) {
  const rg_pace *p = &l->pace;
  double limit = s->full ? INFINITY : (1 + s->gain) * l->unit;
  *faster = 0;
  if (!(l->state & RG_LOAD_ACTIVE) || !(l->state & RG_LOAD_LEAVABLE))
    return 0;
  for (int i = 0; i < p->count && p->ranks[i] < l->ranks; i++)
    if (p->ranks[i] >= l->least && p->seconds[i] <= limit) {
      *faster = s->full || p->seconds[i] < l->unit;
      return l->ranks - p->ranks[i];
    }
  return 0;
}

/* What the rows give to walkers that wait. */
static int give_to_waiting(free_ranks_state *s, rg_plan *plan) {
  int faster;
  rgi_waiting_sum sum = {0};
  if (s->t->waiting_count > 0)
    sum = rgi_waiting_sum_up(s->t, s->cost);
  for (int64_t row = s->first; row < s->end; row++) {
    const rg_load *l = &s->t->load[row];
    int64_t surplus = surplus_of(s, l, &faster), spare = rgi_waiting_spare(&sum, l);
    s->left[row] = rgi_load_gives(s->t, row) ? l->ranks : surplus > spare ? surplus : spare;
  }
  return rgi_waiting_start(s->t, s->left, plan);
}

/* What is left of them for other groups: of active rows only what they do not need. */
static int give_to_others(free_ranks_state *s, rg_plan *plan) {
  int faster;
  for (int64_t row = s->first; row < s->end; row++) {
    const rg_load *l = &s->t->load[row];
    int64_t surplus = surplus_of(s, l, &faster);
    int idle = rgi_load_gives(s->t, row);
    s->give[row] = idle ? s->left[row] : s->left[row] < surplus ? s->left[row] : surplus;
    if (idle && s->t->self == row && rgi_waiting_holds(s->t, plan, l->ranks))
      s->give[row] = 0;
  }
  for (int64_t i = 0; i < plan->count; i++) /* it may not get processes, too */
    if (s->give[plan->move[i].from] == 0)
      s->give[plan->move[i].from] = -1;
  return rgi_free_ranks_divide(s->t, s->give, s->cost, plan);
}

static int64_t given_by(const rg_plan *plan, int64_t row) {
  int64_t sum = 0;
  for (int64_t i = 0; i < plan->count; i++)
    sum += plan->move[i].from == row ? plan->move[i].ranks : 0;
  return sum;
}

/* Processes that no other group can use leave all the same if their group is faster without them.
 */
static int give_rest(const free_ranks_state *s, rg_plan *plan) {
  for (int64_t row = s->first; row < s->end; row++) {
    int faster;
    int64_t rest = surplus_of(s, &s->t->load[row], &faster);
    if (rest > 0 && faster)
      rest -= given_by(plan, row);
    if (rest > 0 && faster)
      RGI_TRY(rg_plan_add(plan, &(rg_move){row, RG_MOVE_NO_ROW, rest, RG_MOVE_NO_WALKER, {0}}));
  }
  return RG_SUCCESS;
}

int rgi_free_ranks_plan(const rg_load_table *table, double cost, double gain, rg_plan *plan) {
  size_t rows = (size_t)table->count;
  int all = table->self == RG_LOAD_ALL_ROWS;
  free_ranks_state s = {.t = table,
                        .cost = cost >= 0 ? cost : table->merge,
                        .gain = gain,
                        .full = rgi_load_free_processors(table) <= 0,
                        .first = all ? 0 : table->self,
                        .end = all ? table->count : table->self + 1,
                        .left = calloc(rows + 1, sizeof *s.left),
                        .give = calloc(rows + 1, sizeof *s.give)};
  int error = s.left && s.give ? give_to_waiting(&s, plan)
                               : rgi_error(RG_ERR_NOMEM, "share-out: no memory for %zu rows", rows);
  if (!error)
    error = give_to_others(&s, plan);
  if (!error)
    error = give_rest(&s, plan);
  free(s.left);
  free(s.give);
  return error;
}
