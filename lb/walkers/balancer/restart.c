/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One function does it after a death (recover_all): give up, agree with the living that all have
 * given up, lay out the work again (lay_out_until_settled), begin. Each of these steps may meet
 * another death. A step ends with an agreement among the living: whether all have done it, and
 * whether a member has died meanwhile; if so, it is done again in the smaller group. A process that
 * has seen a death first revokes the group, so that no other waits in the step for the dead. */
#include <regroup/recovery.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "formation/group.h"
#include "formation/members.h"
#include "timeline/timeline.h"
#include "walkers/async/async.h"
#include "walkers/balancer/node_stores.h"
#include "walkers/balancer/restart.h"
#include "walkers/state/balancer_state.h"
#include "walkers/state/first_groups.h"
#include "walkers/sync/sync.h"
#include "walkers/work/outcome.h"

/* --- the living --------------------------------------------------------------------- */

static int share_error(rg_balancer b, int error) {
  return rgi_group_error_share(b->members.group, b->members.call, error);
}

/* Agrees whether the step succeeded on all living members. *again: a member has died meanwhile. */
static int settle_error(rg_balancer b, int error, int *again) {
  unsigned well = error == RG_SUCCESS;
  char *text = strdupa(rg_error_detail());
  int death = rgi_membership_failure(&b->members);
  if (death)
    RGI_TRY(rg_group_revoke(b->members.group));
  RGI_TRY(rg_group_agree(b->members.group, &well, again));
  if (*again || well)
    return RG_SUCCESS;
  if (error)
    rgi_error(error, "%s", text);
  error = share_error(b, error);
  *again = error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED; /* another death */
  return *again ? RG_SUCCESS : error;
}

static int lay_out_once(rg_balancer b, int shrinks) {
  for (int again = shrinks;;) {
    if (again)
      RGI_TRY(rgi_membership_shrink(&b->members));
    RGI_TRY(settle_error(b, rgi_node_stores_lay_out(b), &again));
    if (!again)
      return RG_SUCCESS;
  }
}

/* The list of a later run is read from the stores even if no process has died: they have its
 * walkers beside those of earlier runs, whose outcomes may have lost the process that reports them.
 */
static int lay_out_until_settled(rg_balancer b, int shrinks) {
  int first = !b->survival.store.filled;
  RGI_TRY(lay_out_once(b, shrinks));
  if (!first)
    return RG_SUCCESS;
  rgi_node_stores_filled(b);
  return b->work.run > 0 ? lay_out_once(b, 0) : rgi_first_make(b);
}

static int begin_round(rg_balancer b) {
  RGI_TRY(rgi_buddy_open(&b->survival.buddy));
  return b->planner.policy.interval > 0 ? rgi_sync_begin(b) : rgi_async_begin(b);
}

/* --- after a death --------------------------------------------------------------------------- */

/* Tells the application of the dead: the ranks at first that it takes for living ones and that are
 * in the group no more. */
static void tell_deaths(rg_balancer b, double noticed) {
  rgi_balancer_survival *s = &b->survival;
  rg_balance_death d = {.noticed = noticed, .back = rgi_clock_now(), .left = b->members.size};
  int at = 0;
  for (int i = 0; i < s->living_count; i++) {
    if (at < b->members.size && rgi_membership_first_rank(&b->members, at) == s->living[i]) {
      s->living[at++] = s->living[i];
      continue;
    }
    d.rank = s->living[i];
    d.world_rank = rgi_members_at(b->members.first->members, d.rank);
    rgi_timeline_died(b->options.timeline, d.world_rank, noticed);
    if (b->options.died)
      b->options.died(&d, b->options.context);
  }
  s->living_count = at;
}

/* agreed: the living have agreed already that there was a death. */
static int recover_all(rg_balancer b, int agreed) {
  for (;; agreed = 0) {
    unsigned word = 0;
    RGI_TRY(rgi_balancer_state_give_up(b));
    if (!agreed)
      RGI_TRY(rg_group_agree(b->members.group, &word, NULL));
    RGI_TRY(lay_out_until_settled(b, 1));
    b->stage = RGI_BALANCER_RUNNING;
    int error = begin_round(b);
    if (!error)
      return RG_SUCCESS;
    if (!rgi_membership_failure(&b->members))
      return error;
  }
}

/* A later run has a group of its own, by shrinking: members may have died since the last one. */
static int begin_first(rg_balancer b, int agreed) {
  rgi_balancer_stage rests = b->stage;
  (void)agreed;
  b->stage = RGI_BALANCER_RUNNING;
  int error = lay_out_until_settled(b, b->work.run > 0);
  if (error) {
    b->stage = b->survival.store.filled ? RGI_BALANCER_BROKEN : rests;
    return error;
  }
  error = begin_round(b);
  return error && rgi_membership_failure(&b->members) ? recover_all(b, 0) : error;
}

static int list_living(rg_balancer b) {
  rgi_balancer_survival *s = &b->survival;
  if (s->living)
    return RG_SUCCESS;
  s->living = malloc((size_t)b->members.size * sizeof *s->living);
  if (!s->living)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d ranks", b->members.size);
  for (s->living_count = 0; s->living_count < b->members.size; s->living_count++)
    s->living[s->living_count] = s->living_count;
  return RG_SUCCESS;
}

/* Does a step that may shrink the group, and tells the application of the dead afterwards. */
static int do_and_tell(rg_balancer b, int (*what)(rg_balancer b, int agreed), int agreed) {
  double noticed = rgi_clock_now();
  RGI_TRY(list_living(b));
  RGI_TRY(what(b, agreed));
  tell_deaths(b, noticed);
  return RG_SUCCESS;
}

int rgi_restart_begin(rg_balancer b) {
  return do_and_tell(b, begin_first, 0);
}

int rgi_restart_recover(rg_balancer b) {
  return do_and_tell(b, recover_all, 0);
}

/* --- the end --------------------------------------------------------------------------------- */

int rgi_restart_end(rg_balancer b, int *done) {
  int many = rgi_store_spans_nodes(&b->survival.store), failed;
  int error = b->async.board.shared || many ? rgi_async_end(b) : RG_SUCCESS;
  rgi_outcome_list_free(&b->outcomes);
  if (!error)
    error = rgi_store_outcomes(&b->survival.store, 0, &b->outcomes);
  if (!error)
    error = rgi_outcome_report(&b->members, &b->outcomes, b->work.run, &b->planner);
  char *text = strdupa(rg_error_detail());
  unsigned well = !rgi_membership_failure(&b->members);
  if (!well)
    RGI_TRY(rg_group_revoke(b->members.group));
  RGI_TRY(rg_group_agree(b->members.group, &well, &failed));
  *done = well && !failed;
  if (*done)
    return error ? rgi_error(error, "%s", text) : RG_SUCCESS;
  return do_and_tell(b, recover_all, 1);
}

/* --- outcomes -------------------------------------------------------------------------------- */

/* The present rank of a rank at first, or -1. */
static int rank_of(const rgi_membership *m, int first_rank) {
  int r = m->size - 1;
  while (r >= 0 && rgi_membership_first_rank(m, r) != first_rank)
    r--;
  return r;
}

/* One attempt, which a death may interrupt. */
static int try_gather(rg_balancer b, int root, rgi_outcome_list *all) {
  rgi_store *s = &b->survival.store;
  int rank = rank_of(&b->members, root);
  RGI_TRY(rgi_outcome_agree_root(&b->members, root, RG_SUCCESS));
  if (!s->shared || (rank < 0 && root != RGI_OUTCOME_ALL))
    return RG_SUCCESS;
  if (rgi_store_spans_nodes(s)) /* a process reads when its node's leader has what came */
    RGI_TRY(rgi_node_stores_gather(b, rank));
  if (!all)
    return RG_SUCCESS;
  rgi_outcome_list_free(all);
  return rgi_store_outcomes(s, 1, all);
}

int rgi_restart_gather(rg_balancer b, int root, rgi_outcome_list *all) {
  const rgi_store_shared *store = b->survival.store.shared;
  for (int again = 0;;) {
    if (again)
      RGI_TRY(rgi_membership_shrink(&b->members));
    RGI_TRY(settle_error(b, try_gather(b, root, all), &again));
    if (!again)
      break;
  }
  if (root != RGI_OUTCOME_ALL && rank_of(&b->members, root) < 0)
    return rgi_error(RG_ERR_PROC_FAILED, "%s: the root, rank %d, has died", b->members.call, root);
  int64_t lost = store ? store->lost : 0;
  return lost ? rgi_error(RG_ERR_PROC_FAILED, "%s: %lld outcomes were lost with their nodes",
                          b->members.call, (long long)lost)
              : RG_SUCCESS;
}
