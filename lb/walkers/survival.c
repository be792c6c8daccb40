/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <regroup/recovery.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "formation/group.h"
#include "formation/members.h"
#include "progress/wait.h"
#include "shm/failure.h"
#include "shm/process.h"
#include "shm/revocation.h"
#include "walkers/balancer_state.h"
#include "walkers/survival.h"

static int find_member(const void *members, int world_rank) {
  return rgi_members_find(members, world_rank);
}

static rgi_failure_scope scope_of(const struct rg_balancer_s *b) {
  return (rgi_failure_scope){b->all->members, find_member, b->all->context, 0, {0}};
}

int rgi_survival_failure(rg_balancer b) {
  if (!b->survives || (rgi_process_deaths() == 0 && !rgi_revocation_any()))
    return 0;
  rgi_failure_scope scope = scope_of(b);
  char *kept = strdupa(rg_error_detail());
  int error = rgi_failure_check(&scope, "balancing");
  if (!error)
    rgi_error(RG_SUCCESS, "%s", kept);
  return error != RG_SUCCESS;
}

int rgi_survival_look(rg_balancer b) {
  if (!b->survives)
    return 0;
  rgi_process_check(rgi_clock_now());
  return rgi_survival_failure(b);
}

void rgi_survival_scope(rg_balancer b, rgi_wait *w) {
  if (b->survives)
    w->scope = scope_of(b);
}

int rgi_survival_first_rank(const struct rg_balancer_s *b, int rank) {
  return b->first_rank_of ? b->first_rank_of[rank] : rank;
}
