/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * An idle group joins the group that has the longest time to go, reckoned with the
 * processes that are on their way to it, if that gains more than it costs. */
#include <stdlib.h>

#include "base/error.h"
#include "policies/targets.h"

/* The first from the top that so many processes help takes them all. */
static int join_longest(rgi_targets *s, int row, int64_t ranks, rg_plan *plan) {
  int dropped = 0, error = RG_SUCCESS;
  const rgi_target *t = rgi_targets_top(s);
  while (t && !rgi_target_gains(s, t, ranks, s->table->merge)) {
    rgi_targets_drop(s);
    dropped++;
    t = rgi_targets_top(s);
  }
  if (t) {
    error = rg_plan_add(plan, (rg_move){row, t->row, ranks, RG_NO_WALKER});
    rgi_targets_give(s, ranks);
  }
  rgi_targets_put_back(s, dropped);
  return error;
}

/* Groups of a size that has helped nobody need not be tried again. */
static int join_all(rgi_targets *s, const char used[], rg_plan *plan) {
  int64_t useless = 0;
  for (int row = 0; row < s->table->count; row++) {
    int64_t ranks = s->table->load[row].ranks;
    int before = plan->count;
    if (!rgi_load_gives(s->table, row) || used[row] || ranks == useless)
      continue;
    RGI_TRY(join_longest(s, row, ranks, plan));
    useless = plan->count == before ? ranks : 0;
  }
  return RG_SUCCESS;
}

int rgi_policy_most_work(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  rgi_targets s;
  char *used = calloc((size_t)table->count + 1, 1);
  (void)policy;
  if (!used)
    return rgi_error(RG_ERR_NOMEM, "most-work: no memory for %d rows", table->count);
  int error = rgi_start_waiting(table, plan, used);
  if (!error)
    error = rgi_targets_find(&s, table, NULL);
  if (!error) {
    error = join_all(&s, used, plan);
    rgi_targets_free(&s);
  }
  free(used);
  return error;
}
