/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs the walkers of meeting_work.h and compares them with the reference. */
#ifndef TESTS_MEETING_RUN_H
#define TESTS_MEETING_RUN_H

#include <stdio.h>

#include "check.h"
#include "meeting_work.h"
#include "world.h"

static inline rg_balancer made(const char *name, const rg_walker_kind *kind, meeting_plan *plan,
                               int group) {
  rg_policy policy = {.size = sizeof policy};
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = group};
  rg_balancer b;
  RGT_OK(rg_policy_parse(name, &policy));
  RGT_OK(rg_balance_create(world, kind, &o, &b));
  for (int w = 0; w < plan->walkers; w++) {
    rg_walker_new new = {.size = sizeof new, .id = w, .left = (double)meeting_units(plan, w)};
    RGT_OK(rg_balance_add(b, &new));
  }
  return b;
}

/* All walkers have the results of the reference, and each meeting took place once. */
static inline void check_all(rg_balancer balancer, meeting_plan *plan) {
  meeting_state expected[MEETING_WALKERS];
  const rg_balance_outcome *o;
  int64_t count, held;
  meeting_reference(plan, expected);
  MPI_Allreduce(&plan->held, &held, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(held, meeting_count(plan));
  RGT_OK(rg_balance_gather(balancer, 0));
  RGT_OK(rg_balance_outcomes(balancer, &count, &o));
  if (rgt_rank != 0 || !RGT_INT(count, plan->walkers))
    return;
  for (int i = 0; i < count; i++) {
    const meeting_state *s = o[i].state;
    RGT_INT(o[i].id, i);
    RGT_INT(o[i].error, RG_SUCCESS);
    RGT_INT(o[i].done, expected[i].units);
    if (RGT_PTR_NOT_NULL(s))
      RGT_TRUE(s->units == expected[i].units && s->met == expected[i].met &&
               s->value == expected[i].value);
  }
}

static inline void run(const char *policy, uint64_t seed, int walkers, int group, int alike,
                       int forgets) {
  static meeting_plan p;
  meeting_plan_make(&p, seed, walkers, 1 + (int)(seed % MEETING_ROUNDS), forgets);
  rg_walker_kind kind = meeting_kind(&p);
  kind.alike = alike;
  rg_balancer b = made(policy, &kind, &p, group);
  RGT_OK(rg_balance_run(b));
  check_all(b, &p);
  RGT_OK(rg_balance_free(&b));
}

#endif
