/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One function does it after a death (recover_all): give up, agree with the living that all have
 * given up, lay out the work again (lay_out_until_settled), begin. Each of these steps may meet
 * another death. A step ends with an agreement among the living: whether all have done it, and
 * whether a member has died meanwhile; if so, it is done again in the smaller group. A process that
 * has seen a death first revokes the group, so that no other waits in the step for the dead. */
#include <regroup/collectives.h>
#include <regroup/recovery.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "formation/group.h"
#include "formation/members.h"
#include "timeline/timeline.h"
#include "walkers/async.h"
#include "walkers/balancer_state.h"
#include "walkers/buddy.h"
#include "walkers/internode.h"
#include "walkers/join.h"
#include "walkers/layout.h"
#include "walkers/load_board.h"
#include "walkers/meeting_step.h"
#include "walkers/membership.h"
#include "walkers/node_loads.h"
#include "walkers/outcome.h"
#include "walkers/outcome_list.h"
#include "walkers/queue.h"
#include "walkers/restart.h"
#include "walkers/round.h"
#include "walkers/search.h"
#include "walkers/store.h"
#include "walkers/store_exchange.h"
#include "walkers/store_index.h"
#include "walkers/store_write.h"
#include "walkers/synchronous.h"
#include "walkers/walker_team.h"
#include "walkers/wire.h"
#include "walkers/work.h"

/* --- giving up ---------------------------------------------------------------------------- */

static void end_request(rg_request *request) {
  if (*request)
    rg_wait(request, NULL);
}

/* The groups of walkers are revoked with the balancer's (walker_team.c). */
static int give_up_all(rg_balancer b) {
  RGI_TRY(rg_group_revoke(b->members.group));
  end_request(&b->round.request);
  end_request(&b->async.end);
  rgi_search_forget(&b->async.search);
  rgi_join_forget(&b->async.join);
  rgi_meeting_step_forget(b);
  rgi_round_forget(&b->round);
  rgi_wire_flush(&b->wire);
  rgi_work_leave(&b->work);
  rgi_walker_team_free(&b->team);
  rgi_queue_free(&b->work.born);
  rgi_internode_close(&b->async.nodes);
  rgi_load_board_forget(&b->async.board);
  rgi_buddy_close(&b->survival.buddy);
  b->round.units = 0;
  return RG_SUCCESS;
}

/* --- the living --------------------------------------------------------------------- */

static int share_error(rg_balancer b, int error) {
  return rgi_group_error_share(b->members.group, b->members.call, error);
}

/* The number of a rank's node in the exchange. */
static int node_of(const struct rg_balancer_s *b, const rgi_store_exchange *x, int rank) {
  int of = rgi_membership_node_of(&b->members, rank), node = 0;
  while (rgi_membership_node_of(&b->members, x->ranks[node]) != of)
    node++;
  return node;
}

/* The node where walker i of the list begins: its group's, or the one that it waits on. */
static int home_of(const struct rg_balancer_s *b, const rgi_store_exchange *x, int i) {
  int starting = rgi_layout_starting(b);
  return i < starting ? node_of(b, x, i * b->team.first_size)
                      : rgi_node_loads_first(x->nodes, i - starting);
}

/* Reads the list of walkers and works out the groups at first, from the same records on each
 * process. Leaders of nodes: *homes is where each walker begins. */
static int read_list(rg_balancer b, const rgi_store_exchange *x, int **homes) {
  rgi_store_index_clear(&b->survival.index);
  RGI_TRY(rgi_store_read(&b->survival.store, &b->list));
  RGI_TRY(rgi_layout_make(b));
  if (!x->nodes)
    return RG_SUCCESS;
  *homes = malloc((size_t)(b->list.count + 1) * sizeof **homes);
  if (!*homes)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d walkers", b->list.count);
  for (int i = 0; i < b->list.count; i++)
    (*homes)[i] = home_of(b, x, i);
  return RG_SUCCESS;
}

static int read_stores(rg_balancer b, rgi_store_exchange *x, int unused) {
  int *homes = NULL;
  (void)unused;
  int error = share_error(b, x->nodes ? rgi_store_write_settle(x->index) : RG_SUCCESS);
  if (!error)
    error = share_error(b, x->nodes ? rgi_store_exchange_agree(x) : RG_SUCCESS);
  if (!error)
    error = share_error(b, read_list(b, x, &homes));
  if (!error && x->nodes)
    error = rgi_store_exchange_move(x, &b->list, homes);
  free(homes);
  return error;
}

/* Does something on all processes, with an exchange on the leaders of the nodes. */
static int with_leaders(rg_balancer b, int (*what)(rg_balancer b, rgi_store_exchange *x, int arg),
                        int arg) {
  rgi_store_exchange x = {0};
  rgi_balancer_survival *s = &b->survival;
  int error = RG_SUCCESS;
  if (rgi_membership_leads_node(&b->members))
    error = rgi_store_exchange_open(&x, &s->index, &s->traffic);
  error = share_error(b, error);
  if (!error)
    error = what(b, &x, arg);
  if (x.index)
    rgi_store_exchange_close(&x);
  return error;
}

/* Makes the list of the walkers that are to be worked on, the same on all processes. No process
 * works meanwhile. */
static int lay_out(rg_balancer b) {
  if (b->survival.store.filled)
    return with_leaders(b, read_stores, 0);
  RGI_TRY(rgi_layout_agree(b));
  RGI_TRY(rgi_layout_share_paces(b));
  RGI_TRY(rgi_store_open(&b->survival.store, &b->list));
  return rgi_membership_leads_node(&b->members)
             ? rgi_store_fill(&b->survival.store, &b->list, b->work.run)
             : RG_SUCCESS;
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

/* The store has the states now: the list's own are freed. */
static void mark_filled(rg_balancer b) {
  rgi_store_filled(&b->survival.store, &b->list);
  for (int i = 0; i < b->list.count; i++) {
    free(b->list.at[i].memory);
    b->list.at[i].memory = NULL;
    b->list.at[i].bytes = 0;
  }
}

static int lay_out_once(rg_balancer b, int shrinks) {
  for (int again = shrinks;;) {
    if (again)
      RGI_TRY(rgi_membership_shrink(&b->members));
    RGI_TRY(settle_error(b, lay_out(b), &again));
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
  mark_filled(b);
  return b->work.run > 0 ? lay_out_once(b, 0) : rgi_layout_make(b);
}

static int begin_round(rg_balancer b) {
  RGI_TRY(rgi_buddy_open(&b->survival.buddy));
  return b->planner.policy.interval > 0 ? rgi_synchronous_begin(b) : rgi_async_begin(b);
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
    RGI_TRY(give_up_all(b));
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

static int bring_outcomes(rg_balancer b, rgi_store_exchange *x, int root) {
  return x->nodes ? rgi_store_exchange_gather(x, root < 0 ? -1 : node_of(b, x, root)) : RG_SUCCESS;
}

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
    RGI_TRY(share_error(b, with_leaders(b, bring_outcomes, rank)));
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
