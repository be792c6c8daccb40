/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One function does it after a death (recover_all): give up, agree with the living that all have
 * given up, lay out the work again (lay_out_until_settled), begin. Each of these steps may meet
 * another death. A step ends with an agreement among the living: whether all have done it, and
 * whether a member has died meanwhile; if so, it is done again in the smaller group. A process that
 * has seen a death first revokes the group, so that no other waits in the step for the dead. */
#include "walkers/balancer/restart.h"

#include <regroup/balance.h>
#include <regroup/recovery.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/spare.h"
#include "collectives/calls/group_error.h"
#include "formation/group.h"
#include "formation/members.h"
#include "timeline/timeline.h"
#include "walkers/async/async.h"
#include "walkers/state/balancer_state.h"
#include "walkers/state/first_groups.h"
#include "walkers/store/record_write.h"
#include "walkers/sync/sync.h"
#include "walkers/work/outcome.h"

/* --- the stores of all nodes, in a job that survives deaths ------------------------------- */

/* All processes call. The leaders of the nodes exchange records (record_exchange.c); each process
 * then reads the store of its node. A step that fails on one process fails on all. */

static int share_error(rg_balancer balancer, int error) {
  return rgi_group_error_share(balancer->members.group, balancer->members.call, error);
}

/* The number of a rank's node in the exchange. */
static int node_of(const struct rg_balancer_s *balancer, const rgi_record_exchange *exchange,
                   int rank) {
  int of = rgi_membership_node_of(&balancer->members, rank), node = 0;
  while (rgi_membership_node_of(&balancer->members, exchange->ranks[node]) != of)
    node++;
  return node;
}

/* The node where walker i of the list begins: its group's, or the one that it waits on. */
static int home_of(const struct rg_balancer_s *balancer, const rgi_record_exchange *exchange,
                   int i) {
  int starting = rgi_first_starting(balancer);
  return i < starting ? node_of(balancer, exchange, i * balancer->team.first_size)
                      : rgi_node_loads_first(exchange->nodes, i - starting);
}

/* Reads the list of walkers and works out the groups at first, from the same records on each
 * process. Leaders of nodes: *homes is where each walker begins. */
static int read_list(rg_balancer balancer, const rgi_record_exchange *exchange, int **homes) {
  rgi_record_index_clear(&balancer->survival.index);
  RGI_TRY(rgi_store_read(&balancer->survival.store, &balancer->list));
  RGI_TRY(rgi_first_make(balancer));
  if (!exchange->nodes)
    return RG_SUCCESS;
  *homes = rgi_spare_alloc((size_t)(balancer->list.count + 1) * sizeof **homes);
  if (!*homes)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d walkers", balancer->list.count);
  for (int i = 0; i < balancer->list.count; i++)
    (*homes)[i] = home_of(balancer, exchange, i);
  return RG_SUCCESS;
}

/* An exchange on the leaders of the nodes; elsewhere it is empty. */
static int open_exchange(rg_balancer balancer, rgi_record_exchange *exchange) {
  rgi_balancer_survival *survival = &balancer->survival;
  int error = RG_SUCCESS;
  if (rgi_membership_leads_node(&balancer->members))
    error = rgi_record_exchange_open(exchange, &survival->index, &survival->traffic);
  return share_error(balancer, error);
}

static void close_exchange(rgi_record_exchange *exchange) {
  if (exchange->index)
    rgi_record_exchange_close(exchange);
}

static int read_stores(rg_balancer balancer) {
  rgi_record_exchange exchange = {0};
  int *homes = NULL;
  int error = open_exchange(balancer, &exchange);
  if (!error)
    error = share_error(balancer,
                        exchange.nodes ? rgi_record_write_settle(exchange.index) : RG_SUCCESS);
  if (!error)
    error =
        share_error(balancer, exchange.nodes ? rgi_record_exchange_agree(&exchange) : RG_SUCCESS);
  if (!error)
    error = share_error(balancer, read_list(balancer, &exchange, &homes));
  if (!error && exchange.nodes)
    error = rgi_record_exchange_move(&exchange, &balancer->list, homes);
  rgi_spare_free(homes);
  close_exchange(&exchange);
  return error;
}

/* Makes the list of the walkers that are to be worked on, the same on all processes: at the first
 * time from what they were given, afterwards from the stores. No process works meanwhile. */
static int lay_out_stores(rg_balancer balancer) {
  if (balancer->survival.store.filled)
    return read_stores(balancer);
  RGI_TRY(rgi_first_agree(balancer));
  RGI_TRY(rgi_first_share_paces(balancer));
  RGI_TRY(rgi_store_open(&balancer->survival.store, &balancer->list));
  return rgi_membership_leads_node(&balancer->members)
             ? rgi_store_fill(&balancer->survival.store, &balancer->list, balancer->work.run)
             : RG_SUCCESS;
}

/* After the first time: the stores have the states now, and the list's own are freed. Local. */
static void note_filled(rg_balancer balancer) {
  rgi_store_filled(&balancer->survival.store, &balancer->list);
  for (int i = 0; i < balancer->list.count; i++) {
    rgi_spare_free(balancer->list.at[i].memory);
    balancer->list.at[i].memory = NULL;
    balancer->list.at[i].bytes = 0;
  }
}

/* Brings all outcomes to the node of a rank, -1: to each node. */
static int gather_outcomes(rg_balancer balancer, int rank) {
  rgi_record_exchange exchange = {0};
  int error = open_exchange(balancer, &exchange);
  if (!error && exchange.nodes)
    error =
        rgi_record_exchange_gather(&exchange, rank < 0 ? -1 : node_of(balancer, &exchange, rank));
  close_exchange(&exchange);
  return share_error(balancer, error);
}

/* --- the living --------------------------------------------------------------------- */

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
    RGI_TRY(settle_error(balancer, lay_out_stores(balancer), &again));
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
  note_filled(balancer);
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
  survival->living = rgi_spare_alloc((size_t)balancer->members.size * sizeof *survival->living);
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
    RGI_TRY(gather_outcomes(balancer, rank));
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
