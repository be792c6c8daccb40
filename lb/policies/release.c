/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * As share-out; besides, a group gives processes back when its unit took no longer without them, as
 * measured at the smaller size. */
#include <stdlib.h>

#include "base/error.h"
#include "policies/division.h"
#include "policies/load.h"
#include "policies/policy.h"

/* The processes that an active row does not need: its unit was as short at a smaller size. *faster:
 * it was shorter there. */
static int64_t surplus_of(const rg_load *l, double gain, int *faster) {
  const rg_pace *p = &l->pace;
  *faster = 0;
  if (!(l->state & RG_LOAD_ACTIVE) || !(l->state & RG_LOAD_LEAVABLE))
    return 0;
  for (int i = 0; i < p->count && p->ranks[i] < l->ranks; i++)
    if (p->ranks[i] >= l->least && p->seconds[i] <= (1 + gain) * l->unit) {
      *faster = p->seconds[i] < l->unit;
      return l->ranks - p->ranks[i];
    }
  return 0;
}

static int is_started(const rg_plan *plan, int64_t walker) {
  int64_t i = plan->count - 1;
  while (i >= 0 && plan->move[i].walker != walker)
    i--;
  return i >= 0;
}

/* Lets the processes that a row gives back start the longest walker that is not started yet.
 * Returns whether there was one. */
static int start_one(const rg_load_table *t, int64_t row, int64_t ranks, rg_plan *plan,
                     int *error) {
  for (int64_t w = 0; w < t->waiting_count; w++)
    if (ranks >= t->waiting[w].least && !is_started(plan, w)) {
      *error = rg_plan_add(plan, &(rg_move){row, RG_MOVE_NO_ROW, ranks, w, {0}});
      return 1;
    }
  return 0;
}

static int64_t given_by(const rg_plan *plan, int64_t row) {
  int64_t sum = 0;
  for (int64_t i = 0; i < plan->count; i++)
    sum += plan->move[i].from == row ? plan->move[i].ranks : 0;
  return sum;
}

typedef struct {
  double cost, gain;
  int64_t *give;
  char *used; /* the row gives, or has got a walker */
} release_state;

static int64_t first_row(const rg_load_table *t) {
  return t->self == RG_LOAD_ALL_ROWS ? 0 : t->self;
}

static int64_t end_row(const rg_load_table *t) {
  return t->self == RG_LOAD_ALL_ROWS ? t->count : t->self + 1;
}

/* Processes that no other group can use leave all the same if their group is faster without them.
 */
static int give_rest(const release_state *g, const rg_load_table *t, rg_plan *plan) {
  for (int64_t row = first_row(t); row < end_row(t); row++) {
    int faster;
    int64_t rest = surplus_of(&t->load[row], g->gain, &faster);
    if (rest > 0 && faster)
      rest -= given_by(plan, row);
    if (rest > 0 && faster)
      RGI_TRY(rg_plan_add(plan, &(rg_move){row, RG_MOVE_NO_ROW, rest, RG_MOVE_NO_WALKER, {0}}));
  }
  return RG_SUCCESS;
}

static int give_all(release_state *g, const rg_load_table *t, rg_plan *plan) {
  RGI_TRY(rgi_load_start_waiting(t, plan, g->used));
  for (int64_t row = first_row(t); row < end_row(t); row++) {
    int faster, error = RG_SUCCESS;
    int64_t ranks =
        rgi_load_gives(t, row) ? t->load[row].ranks : surplus_of(&t->load[row], g->gain, &faster);
    if (ranks > 0 && !g->used[row])
      g->give[row] = start_one(t, row, ranks, plan, &error) ? -1 : ranks;
    RGI_TRY(error);
  }
  RGI_TRY(rgi_division_plan(t, g->give, g->cost, plan));
  return give_rest(g, t, plan);
}

int rgi_policy_release(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  size_t rows = (size_t)table->count;
  double cost = policy->option[RGI_POLICY_COST];
  release_state g = {.cost = cost >= 0 ? cost : table->merge,
                     .gain = policy->option[RGI_POLICY_GAIN],
                     .give = calloc(rows + 1, sizeof *g.give),
                     .used = calloc(rows + 1, 1)};
  int error = g.give && g.used ? give_all(&g, table, plan)
                               : rgi_error(RG_ERR_NOMEM, "release: no memory for %zu rows", rows);
  free(g.give);
  free(g.used);
  return error;
}
