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

static int share_error(rg_balancer balancer, int error) {
  return rgi_group_error_share(balancer->members.group, balancer->members.call, error);
}

/* Agrees whether the step succeeded on all living members. *again: a member has died meanwhile. */
static int settle_error(rg_balancer balancer, int error, int *again) {
  unsigned well = error == RG_SUCCESS;
  char *text = strdupa(rg_error_detail());
  int death = rgi_membership_failure(&balancer->members);
  if (death)
    RGI_TRY(rg_group_revoke(balancer->members.group));
  RGI_TRY(rg_group_agree(balancer->members.group, &well, again));
  if (*again || well)
    return RG_SUCCESS;
  if (error)
    rgi_error(error, "%s", text);
  error = share_error(balancer, error);
  *again = error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED; /* another death */
  return *again ? RG_SUCCESS : error;
}

static int lay_out_once(rg_balancer balancer, int shrinks) {
  for (int again = shrinks;;) {
    if (again)
      RGI_TRY(rgi_membership_shrink(&balancer->members));
    RGI_TRY(settle_error(balancer, rgi_node_stores_lay_out(balancer), &again));
    if (!again)
      return RG_SUCCESS;
  }
}

/* The list of a later run is read from the stores even if no process has died: they have its
 * walkers beside those of earlier runs, whose outcomes may have lost the process that reports them.
 */
static int lay_out_until_settled(rg_balancer balancer, int shrinks) {
  int first = !balancer->survival.store.filled;
  RGI_TRY(lay_out_once(balancer, shrinks));
  if (!first)
    return RG_SUCCESS;
  rgi_node_stores_filled(balancer);
  return balancer->work.run > 0 ? lay_out_once(balancer, 0) : rgi_first_make(balancer);
}

static int begin_round(rg_balancer balancer) {
  RGI_TRY(rgi_buddy_open(&balancer->survival.buddy));
  return balancer->planner.policy.interval > 0 ? rgi_sync_begin(balancer)
                                               : rgi_async_begin(balancer);
}

/* --- after a death --------------------------------------------------------------------------- */

/* Tells the application of the dead: the ranks at first that it takes for living ones and that are
 * in the group no more. */
static void tell_deaths(rg_balancer balancer, double noticed) {
  rgi_balancer_survival *survival = &balancer->survival;
  rg_balance_death death = {
      .noticed = noticed, .back = rgi_clock_now(), .left = balancer->members.size};
  int at = 0;
  for (int i = 0; i < survival->living_count; i++) {
    if (at < balancer->members.size &&
        rgi_membership_first_rank(&balancer->members, at) == survival->living[i]) {
      survival->living[at++] = survival->living[i];
      continue;
    }
    death.rank = survival->living[i];
    death.world_rank = rgi_members_at(balancer->members.first->members, death.rank);
    rgi_timeline_died(balancer->options.timeline, death.world_rank, noticed);
    if (balancer->options.died)
      balancer->options.died(&death, balancer->options.context);
  }
  survival->living_count = at;
}

/* agreed: the living have agreed already that there was a death. */
static int recover_all(rg_balancer balancer, int agreed) {
  for (;; agreed = 0) {
    unsigned word = 0;
    RGI_TRY(rgi_balancer_state_give_up(balancer));
    if (!agreed)
      RGI_TRY(rg_group_agree(balancer->members.group, &word, NULL));
    RGI_TRY(lay_out_until_settled(balancer, 1));
    balancer->stage = RGI_BALANCER_RUNNING;
    int error = begin_round(balancer);
    if (!error)
      return RG_SUCCESS;
    if (!rgi_membership_failure(&balancer->members))
      return error;
  }
}

/* A later run has a group of its own, by shrinking: members may have died since the last one. */
static int begin_first(rg_balancer balancer) {
  rgi_balancer_stage rests = balancer->stage;
  balancer->stage = RGI_BALANCER_RUNNING;
  int error = lay_out_until_settled(balancer, balancer->work.run > 0);
  if (error) {
    balancer->stage = balancer->survival.store.filled ? RGI_BALANCER_BROKEN : rests;
    return error;
  }
  error = begin_round(balancer);
  return error && rgi_membership_failure(&balancer->members) ? recover_all(balancer, 0) : error;
}

static int list_living(rg_balancer balancer) {
  rgi_balancer_survival *survival = &balancer->survival;
  if (survival->living)
    return RG_SUCCESS;
  survival->living = malloc((size_t)balancer->members.size * sizeof *survival->living);
  if (!survival->living)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d ranks", balancer->members.size);
  for (survival->living_count = 0; survival->living_count < balancer->members.size;
       survival->living_count++)
    survival->living[survival->living_count] = survival->living_count;
  return RG_SUCCESS;
}

int rgi_restart_begin(rg_balancer balancer) {
  double noticed = rgi_clock_now();
  RGI_TRY(list_living(balancer));
  RGI_TRY(begin_first(balancer));
  tell_deaths(balancer, noticed);
  return RG_SUCCESS;
}

static int recover_and_tell(rg_balancer balancer, int agreed) {
  double noticed = rgi_clock_now();
  RGI_TRY(list_living(balancer));
  RGI_TRY(recover_all(balancer, agreed));
  tell_deaths(balancer, noticed);
  return RG_SUCCESS;
}

int rgi_restart_recover(rg_balancer balancer) {
  return recover_and_tell(balancer, 0);
}

/* --- the end --------------------------------------------------------------------------------- */

int rgi_restart_end(rg_balancer balancer, int *done) {
  int many = rgi_store_spans_nodes(&balancer->survival.store), failed;
  int error = balancer->async.board.shared || many ? rgi_async_end(balancer) : RG_SUCCESS;
  rgi_outcome_list_free(&balancer->outcomes);
  if (!error)
    error = rgi_store_outcomes(&balancer->survival.store, 0, &balancer->outcomes);
  if (!error)
    error = rgi_outcome_report(&balancer->members, &balancer->outcomes, balancer->work.run,
                               &balancer->planner);
  char *text = strdupa(rg_error_detail());
  unsigned well = !rgi_membership_failure(&balancer->members);
  if (!well)
    RGI_TRY(rg_group_revoke(balancer->members.group));
  RGI_TRY(rg_group_agree(balancer->members.group, &well, &failed));
  *done = well && !failed;
  if (*done)
    return error ? rgi_error(error, "%s", text) : RG_SUCCESS;
  return recover_and_tell(balancer, 1);
}

/* --- outcomes -------------------------------------------------------------------------------- */

/* The present rank of a rank at first, or -1. */
static int rank_of(const rgi_membership *members, int first_rank) {
  int r = members->size - 1;
  while (r >= 0 && rgi_membership_first_rank(members, r) != first_rank)
    r--;
  return r;
}

/* One attempt, which a death may interrupt. */
static int try_gather(rg_balancer balancer, int root, rgi_outcome_list *all) {
  rgi_store *store = &balancer->survival.store;
  int rank = rank_of(&balancer->members, root);
  RGI_TRY(rgi_outcome_agree_root(&balancer->members, root, RG_SUCCESS));
  if (!store->shared || (rank < 0 && root != RGI_OUTCOME_ALL))
    return RG_SUCCESS;
  if (balancer->members.spanned) /* a process reads when its node's leader has what came */
    RGI_TRY(rgi_node_stores_gather(balancer, rank));
  if (!all)
    return RG_SUCCESS;
  rgi_outcome_list_free(all);
  return rgi_store_outcomes(store, 1, all);
}

int rgi_restart_gather(rg_balancer balancer, int root, rgi_outcome_list *all) {
  const rgi_store_shared *store = balancer->survival.store.shared;
  for (int again = 0;;) {
    if (again)
      RGI_TRY(rgi_membership_shrink(&balancer->members));
    RGI_TRY(settle_error(balancer, try_gather(balancer, root, all), &again));
    if (!again)
      break;
  }
  if (root != RGI_OUTCOME_ALL && rank_of(&balancer->members, root) < 0)
    return rgi_error(RG_ERR_PROC_FAILED, "%s: the root, rank %d, has died", balancer->members.call,
                     root);
  int64_t lost = store ? store->lost : 0;
  return lost ? rgi_error(RG_ERR_PROC_FAILED, "%s: %lld outcomes were lost with their nodes",
                          balancer->members.call, (long long)lost)
              : RG_SUCCESS;
}
