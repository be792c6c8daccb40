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

int rgi_planner_open(rgi_planner *p, int groups) {
  if (p->rows)
    return RG_SUCCESS;
  p->rows = calloc((size_t)groups, sizeof *p->rows);
  p->stamps = calloc((size_t)groups, sizeof *p->stamps);
  if (p->rows && p->stamps)
    return RG_SUCCESS;
  rgi_planner_close(p);
  return rgi_error(RG_ERR_NOMEM, "rg_balance_begin: no memory for %d processes", groups);
}

void rgi_planner_close(rgi_planner *p) {
  rg_plan_free(&p->plan);
  free(p->rows);
  free(p->stamps);
  p->rows = NULL;
  p->stamps = NULL;
}

rg_load_table rgi_planner_table(rgi_planner *p, const rgi_queue_entry waiting[], int count) {
  int shown = count < RGI_QUEUE_SHOWN ? count : RGI_QUEUE_SHOWN;
  rgi_queue_show(waiting, shown, p->waiting);
  return (rg_load_table){.size = sizeof(rg_load_table),
                         .load = p->rows,
                         .count = p->row_count,
                         .waiting = p->waiting,
                         .waiting_count = shown,
                         .cross = 2 * rgi_tuning_now()->between.ts}; /* to a leader and back */
}

const char *rgi_planner_name(const rgi_planner *p) {
  return p->policy.name ? p->policy.name : "";
}

static void note_policy_error(rgi_planner *p, int error) {
  p->error = error;
  if (error >= RG_ERR_USER)
    snprintf(p->text, sizeof p->text, "%s", rg_error_detail());
  else
    snprintf(p->text, sizeof p->text, "policy %s: %s",
             p->policy.name ? p->policy.name : "without a name", rg_error_detail());
}

int rgi_planner_ask(rgi_planner *p, const rg_load_table *table) {
  rg_policy none = {.size = sizeof none};
  int error = p->error ? p->error : rg_policy_plan(&p->policy, table, &p->plan);
  if (error == RG_SUCCESS)
    return RG_SUCCESS;
  if (!p->error)
    note_policy_error(p, error);
  RGI_TRY(rg_policy_parse("none", &none));
  return rg_policy_plan(&none, table, &p->plan);
}

int rgi_planner_starts(const rgi_planner *p, int waiting) {
  for (int i = 0; i < p->plan.count; i++)
    if (p->plan.move[i].to == RG_MOVE_NO_ROW && p->plan.move[i].walker == waiting)
      return 1;
  return 0;
}
