/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * An idle group joins the group that has the longest time to go, reckoned with the
 * processes that are on their way to it, if that gains more than it costs. */
#include <stdlib.h>

#include "base/error.h"
#include "policies/load.h"
#include "policies/policy.h"
#include "policies/target_heap.h"

/* The first target from the top that gains by so many processes gets all of them. */
static int join_longest(rgi_target_heap *s, int64_t row, int64_t ranks, rg_plan *plan) {
  int64_t dropped = 0;
  int error = RG_SUCCESS;
  const rgi_target_heap_row *t = rgi_target_heap_top(s);
  while (t && !rgi_target_heap_gains(s, t, ranks, s->table->merge)) {
    rgi_target_heap_drop(s);
    dropped++;
    t = rgi_target_heap_top(s);
  }
  if (t) {
    error = rg_plan_add(plan, &(rg_move){row, t->row, ranks, RG_MOVE_NO_WALKER, {0}});
    rgi_target_heap_give(s, ranks);
  }
  rgi_target_heap_put_back(s, dropped);
  return error;
}

/* Groups of a size that helped no target need not be tried again. */
static int join_all(rgi_target_heap *s, const int64_t left[], rg_plan *plan) {
  int64_t useless = 0;
  for (int64_t row = 0; row < s->table->count; row++) {
    int64_t ranks = left[row], before = plan->count;
    if (ranks == 0 || ranks == useless)
      continue;
    RGI_TRY(join_longest(s, row, ranks, plan));
    useless = plan->count == before ? ranks : 0;
  }
  return RG_SUCCESS;
}

int rgi_policy_most_work(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  rgi_target_heap s;
  int64_t *left = calloc((size_t)table->count + 1, sizeof *left);
  (void)policy;
  if (!left)
    return rgi_error(RG_ERR_NOMEM, "most-work: no memory for %lld rows", (long long)table->count);
  int error = rgi_load_start_waiting(table, plan, left);
  if (!error)
    error = rgi_target_heap_make(&s, table, NULL);
  if (!error) {
    error = join_all(&s, left, plan);
    rgi_target_heap_free(&s);
  }
  free(left);
  return error;
}
