/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A plan is a list of moves. rg_plan_check goes through it with counts for each row and each
 * waiting walker: no row may give more than it has, no walker may start twice, and in a synchronous
 * plan no row may both give and get. */
#include <regroup/policy.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/sized.h"
#include "policies/load.h"

int rg_plan_add(rg_plan *plan, const rg_move *move) {
  RGI_REQUIRE(plan);
  RGI_REQUIRE(move);
  rg_move added = *move; /* it may be a move of this plan */
  RGI_TRY(rgi_grow(&plan->move, plan->count, &plan->room, sizeof *plan->move,
                   "rg_plan_add: no memory for %lld moves"));
  plan->move[plan->count++] = added;
  return RG_SUCCESS;
}

int rg_plan_free(rg_plan *plan) {
  RGI_REQUIRE(plan);
  free(plan->move);
  *plan = (rg_plan){0};
  return RG_SUCCESS;
}

/* --- whether a plan can be done ------------------------------------------------ */

typedef struct {
  int64_t *given, *gets; /* processes that each row gives, and gets */
  char *starts;          /* walkers that start */
} plan_counts;

static int is_row(const rg_load_table *table, int64_t row) {
  return row >= 0 && row < table->count;
}

static const char *wrong_giver(const rg_load_table *table, plan_counts *counts,
                               const rg_move *move) {
  const rg_load *load = &table->load[move->from];
  int64_t least = load->least > 1 ? load->least : 1;
  if (move->ranks < 1)
    return "moves no process";
  if (move->ranks > load->ranks - counts->given[move->from])
    return "moves more processes than the row has";
  counts->given[move->from] += move->ranks;
  if (table->self != RG_LOAD_ALL_ROWS && move->from != table->self)
    return "moves processes of another row than the one that asks";
  if ((load->state & RG_LOAD_ACTIVE) && !(load->state & RG_LOAD_LEAVABLE))
    return "takes from an active row that may not be left";
  if ((load->state & RG_LOAD_ACTIVE) && load->ranks - counts->given[move->from] < least)
    return "leaves an active row with too few processes";
  return NULL;
}

static const char *wrong_walker(const rg_load_table *table, plan_counts *counts,
                                const rg_move *move) {
  if (move->walker == RG_MOVE_NO_WALKER)
    return NULL;
  if (move->to != RG_MOVE_NO_ROW)
    return "starts a walker on a group that it joins";
  if (move->walker < 0 || move->walker >= table->waiting_count)
    return "starts a walker that does not exist";
  if (move->ranks < table->waiting[move->walker].least)
    return "starts a walker with fewer processes than it needs";
  if (table->waiting[move->walker].most > 0 && move->ranks > table->waiting[move->walker].most)
    return "starts a walker with more processes than it can use";
  return counts->starts[move->walker]++ ? "starts a walker for the second time" : NULL;
}

static const char *wrong_target(const rg_load_table *table, plan_counts *counts,
                                const rg_move *move) {
  if (move->to == RG_MOVE_NO_ROW)
    return NULL;
  if (!is_row(table, move->to))
    return "joins a row that does not exist";
  if (!(table->load[move->to].state & RG_LOAD_JOINABLE))
    return "joins a row that may not be joined";
  const rg_load *load = &table->load[move->to];
  counts->gets[move->to] += move->ranks;
  if ((load->state & RG_LOAD_ACTIVE) && load->most > 0 &&
      counts->gets[move->to] > load->most - load->ranks)
    return "joins a row with more processes than it can use";
  return NULL;
}

static const char *wrong_move(const rg_load_table *table, plan_counts *counts,
                              const rg_move *move) {
  const char *wrong = is_row(table, move->from) ? NULL : "is from a row that does not exist";
  if (!wrong)
    wrong = wrong_giver(table, counts, move);
  if (!wrong)
    wrong = wrong_walker(table, counts, move);
  return wrong ? wrong : wrong_target(table, counts, move);
}

/* In a synchronous plan no row may get processes and give others: chains are written as direct
 * moves. */
static int check_moves(const rg_plan *plan, const rg_load_table *table, plan_counts *counts) {
  for (int64_t i = 0; i < plan->count; i++) {
    const rg_move *move = &plan->move[i];
    const char *wrong = wrong_move(table, counts, move);
    if (wrong)
      return rgi_error(
          RG_ERR_ARG, "rg_plan_check: move %lld (%lld processes of row %lld to %lld) %s",
          (long long)i, (long long)move->ranks, (long long)move->from, (long long)move->to, wrong);
  }
  for (int64_t i = 0; i < plan->count; i++)
    if (counts->gets[plan->move[i].from])
      return rgi_error(RG_ERR_ARG, "rg_plan_check: move %lld is from row %lld, which others join",
                       (long long)i, (long long)plan->move[i].from);
  return RG_SUCCESS;
}

static int check_plan(const rg_plan *plan, const rg_load_table *table) {
  plan_counts counts = {calloc((size_t)table->count + 1, sizeof *counts.given),
                        calloc((size_t)table->count + 1, sizeof *counts.gets),
                        calloc((size_t)table->waiting_count + 1, 1)};
  int error = counts.given && counts.gets && counts.starts
                  ? check_moves(plan, table, &counts)
                  : rgi_error(RG_ERR_NOMEM, "rg_plan_check: no memory for %lld rows",
                              (long long)table->count);
  free(counts.given);
  free(counts.gets);
  free(counts.starts);
  return error;
}

int rgi_load_check_table(const char *call, const rg_load_table *table) {
  int absent = (table->count && !table->load) || (table->waiting_count && !table->waiting);
  return table->count >= 0 && table->waiting_count >= 0 && !absent
             ? RG_SUCCESS
             : rgi_error(RG_ERR_ARG, "%s: a table of %lld rows and %lld walkers, or none of it",
                         call, (long long)table->count, (long long)table->waiting_count);
}

int rg_plan_check(const rg_plan *plan, const rg_load_table *table) {
  rg_load_table own;
  RGI_REQUIRE(plan);
  RGI_TRY(rgi_sized_take(&own, sizeof own, table, "rg_plan_check: table"));
  if (plan->count < 0 || (plan->count && !plan->move))
    return rgi_error(RG_ERR_ARG, "rg_plan_check: a list of %lld moves, or none of it",
                     (long long)plan->count);
  RGI_TRY(rgi_load_check_table("rg_plan_check", &own));
  return plan->count ? check_plan(plan, &own) : RG_SUCCESS;
}
