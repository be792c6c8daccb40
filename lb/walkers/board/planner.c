/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asking the policy. A policy of the application may be wrong. That must stop no walker, and no
 * other process may wait for the one that found it out. So this process notes the error, asks the
 * policy no more and from now on only starts walkers that wait; rg_balance_end returns the error.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "runtime/tuning.h"
#include "walkers/board/planner.h"

int rgi_planner_open(rgi_planner *planner, int groups) {
  if (planner->rows)
    return RG_SUCCESS;
  planner->rows = calloc((size_t)groups, sizeof *planner->rows);
  planner->stamps = calloc((size_t)groups, sizeof *planner->stamps);
  if (planner->rows && planner->stamps)
    return RG_SUCCESS;
  rgi_planner_close(planner);
  return rgi_error(RG_ERR_NOMEM, "rg_balance_begin: no memory for %d processes", groups);
}

void rgi_planner_close(rgi_planner *planner) {
  rg_plan_free(&planner->plan);
  free(planner->rows);
  free(planner->stamps);
  planner->rows = NULL;
  planner->stamps = NULL;
}

rg_load_table rgi_planner_table(rgi_planner *planner, const rgi_queue_entry waiting[], int count) {
  int shown = count < RGI_QUEUE_SHOWN ? count : RGI_QUEUE_SHOWN;
  rgi_queue_show(waiting, shown, planner->waiting);
  return (rg_load_table){.size = sizeof(rg_load_table),
                         .load = planner->rows,
                         .count = planner->row_count,
                         .waiting = planner->waiting,
                         .waiting_count = shown,
                         .cross = 2 * rgi_tuning_now()->between.ts}; /* to a leader and back */
}

const char *rgi_planner_name(const rgi_planner *planner) {
  return planner->policy.name ? planner->policy.name : "";
}

static void note_policy_error(rgi_planner *planner, int error) {
  planner->error = error;
  if (error >= RG_ERR_USER)
    snprintf(planner->text, sizeof planner->text, "%s", rg_error_detail());
  else
    snprintf(planner->text, sizeof planner->text, "policy %s: %s",
             planner->policy.name ? planner->policy.name : "without a name", rg_error_detail());
}

int rgi_planner_ask(rgi_planner *planner, const rg_load_table *table) {
  rg_policy none = {.size = sizeof none};
  int error =
      planner->error ? planner->error : rg_policy_plan(&planner->policy, table, &planner->plan);
  if (error == RG_SUCCESS)
    return RG_SUCCESS;
  if (!planner->error)
    note_policy_error(planner, error);
  RGI_TRY(rg_policy_parse("none", &none));
  return rg_policy_plan(&none, table, &planner->plan);
}

int rgi_planner_starts(const rgi_planner *planner, int waiting) {
  for (int i = 0; i < planner->plan.count; i++)
    if (planner->plan.move[i].to == RG_MOVE_NO_ROW && planner->plan.move[i].walker == waiting)
      return 1;
  return 0;
}
