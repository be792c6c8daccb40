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
static int64_t surplus_of(const free_ranks_state *state, const rg_load *load, int *faster) {
  const rg_pace *pace = &load->pace;
  double limit = state->full ? INFINITY : (1 + state->gain) * load->unit;
  *faster = 0;
  if (!(load->state & RG_LOAD_ACTIVE) || !(load->state & RG_LOAD_LEAVABLE))
    return 0;
  for (int i = 0; i < pace->count && pace->ranks[i] < load->ranks; i++)
    if (pace->ranks[i] >= load->least && pace->seconds[i] <= limit) {
      *faster = state->full || pace->seconds[i] < load->unit;
      return load->ranks - pace->ranks[i];
    }
  return 0;
}

/* What the rows give to walkers that wait. */
static int give_to_waiting(free_ranks_state *state, rg_plan *plan) {
  int faster;
  rgi_waiting_sum sum = {0};
  if (state->t->waiting_count > 0)
    sum = rgi_waiting_sum_up(state->t, state->cost);
  for (int64_t row = state->first; row < state->end; row++) {
    const rg_load *load = &state->t->load[row];
    int64_t surplus = surplus_of(state, load, &faster), spare = rgi_waiting_spare(&sum, load);
    state->left[row] = rgi_load_gives(state->t, row) ? load->ranks
                       : surplus > spare             ? surplus
                                                     : spare;
  }
  return rgi_waiting_start(state->t, state->left, plan);
}

/* What is left of them for other groups: of active rows only what they do not need. */
static int give_to_others(free_ranks_state *state, rg_plan *plan) {
  int faster;
  for (int64_t row = state->first; row < state->end; row++) {
    const rg_load *load = &state->t->load[row];
    int64_t surplus = surplus_of(state, load, &faster);
    int idle = rgi_load_gives(state->t, row);
    state->give[row] = idle                         ? state->left[row]
                       : state->left[row] < surplus ? state->left[row]
                                                    : surplus;
    if (idle && state->t->self == row && rgi_waiting_holds(state->t, plan, load->ranks))
      state->give[row] = 0;
  }
  for (int64_t i = 0; i < plan->count; i++) /* it may not get processes, too */
    if (state->give[plan->move[i].from] == 0)
      state->give[plan->move[i].from] = -1;
  return rgi_free_ranks_divide(state->t, state->give, state->cost, plan);
}

static int64_t given_by(const rg_plan *plan, int64_t row) {
  int64_t sum = 0;
  for (int64_t i = 0; i < plan->count; i++)
    sum += plan->move[i].from == row ? plan->move[i].ranks : 0;
  return sum;
}

/* Processes that no other group can use leave all the same if their group is faster without them.
 */
static int give_rest(const free_ranks_state *state, rg_plan *plan) {
  for (int64_t row = state->first; row < state->end; row++) {
    int faster;
    int64_t rest = surplus_of(state, &state->t->load[row], &faster);
    if (rest > 0 && faster)
      rest -= given_by(plan, row);
    if (rest > 0 && faster)
      RGI_TRY(rg_plan_add(plan, &(rg_move){.from = row,
                                           .to = RG_MOVE_NO_ROW,
                                           .ranks = rest,
                                           .walker = RG_MOVE_NO_WALKER}));
  }
  return RG_SUCCESS;
}

int rgi_free_ranks_plan(const rg_load_table *table, double cost, double gain, rg_plan *plan) {
  size_t rows = (size_t)table->count;
  int all = table->self == RG_LOAD_ALL_ROWS;
  free_ranks_state state = {.t = table,
                            .cost = cost >= 0 ? cost : table->merge,
                            .gain = gain,
                            .full = rgi_load_free_processors(table) <= 0,
                            .first = all ? 0 : table->self,
                            .end = all ? table->count : table->self + 1,
                            .left = calloc(rows + 1, sizeof *state.left),
                            .give = calloc(rows + 1, sizeof *state.give)};
  int error = state.left && state.give
                  ? give_to_waiting(&state, plan)
                  : rgi_error(RG_ERR_NOMEM, "share-out: no memory for %zu rows", rows);
  if (!error)
    error = give_to_others(&state, plan);
  if (!error)
    error = give_rest(&state, plan);
  free(state.left);
  free(state.give);
  return error;
}
