/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The life of a balancer: NEW until rg_balance_begin, RUNNING until no walker is left, DONE until
 * rg_balance_end, then ENDED, from where it may begin again. After an error of the library's own it
 * is BROKEN and can only be freed. The steps themselves are those of sync.c or async.c;
 * restart.c stands around them in a job that survives deaths. */
#include <regroup/recovery.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/mix.h"
#include "walkers/async/async.h"
#include "walkers/balancer/balancer.h"
#include "walkers/balancer/restart.h"
#include "walkers/state/balancer_state.h"
#include "walkers/state/first_groups.h"
#include "walkers/sync/sync.h"
#include "walkers/work/outcome.h"

/* The waits of the others end: in a job that survives they agree on what has happened, in another
 * one the balancer's group is revoked, on the caller's node. */
static int broken_if(rg_balancer balancer, int error) {
  if (!error)
    return RG_SUCCESS;
  balancer->stage = RGI_BALANCER_BROKEN;
  if (!balancer->members.survives) {
    char *text = strdupa(rg_error_detail());
    rg_group_revoke(balancer->members.group);
    rgi_error(error, "%s", text);
  }
  return error;
}

/* In a job that does not survive. Messages of the last run that come late are not taken for those
 * of this one, since that has a group of its own. */
static int begin_first(rg_balancer balancer) {
  if (balancer->work.run > 0)
    RGI_TRY(rgi_membership_renew(&balancer->members));
  RGI_TRY(rgi_first_agree(balancer));
  RGI_TRY(rgi_first_share_paces(balancer));
  RGI_TRY(rgi_first_make(balancer));
  balancer->stage = RGI_BALANCER_RUNNING;
  return balancer->planner.policy.interval > 0 ? rgi_sync_begin(balancer)
                                               : rgi_async_begin(balancer);
}

static int begin(const char *call, rg_balancer balancer) {
  RGI_TRY(rgi_balancer_enter(call, balancer));
  if (balancer->stage == RGI_BALANCER_BROKEN)
    return rgi_error(RG_ERR_ARG, "%s: an earlier call has failed: it can only be freed", call);
  if (!rgi_balancer_rests(balancer))
    return rgi_error(RG_ERR_ARG, "%s: it has begun already", call);
  balancer->counts.ended = rgi_clock_now();
  int error = rgi_error_report_under(call, balancer->members.survives ? rgi_restart_begin(balancer)
                                                                      : begin_first(balancer));
  if (!rgi_balancer_rests(balancer)) {
    rgi_balancer_forget_gathered(balancer);
    broken_if(balancer, error);
  }
  return error;
}

int rg_balance_begin(rg_balancer balancer) {
  return begin(__func__, balancer);
}

static int step(const char *call, rg_balancer balancer, int wait, int *what) {
  balancer->members.call = call;
  if (balancer->stage == RGI_BALANCER_DONE) {
    *what = RG_BALANCE_DONE;
    return RG_SUCCESS;
  }
  if (balancer->stage != RGI_BALANCER_RUNNING)
    return rgi_error(RG_ERR_ARG, "%s: it does not run: call rg_balance_begin first", call);
  int error = RG_SUCCESS;
  if (!rgi_membership_look(&balancer->members))
    error = balancer->planner.policy.interval > 0 ? rgi_sync_step(balancer, wait, what)
                                                  : rgi_async_step(balancer, wait, what);
  if (!rgi_membership_failure(&balancer->members))
    return broken_if(balancer, rgi_error_report_under(call, error));
  *what = RG_BALANCE_MOVED;
  return broken_if(balancer, rgi_error_report_under(call, rgi_restart_recover(balancer)));
}

int rg_balance_step(rg_balancer balancer, int wait, int *what) {
  RGI_TRY(rgi_balancer_check(__func__, balancer));
  RGI_REQUIRE(what);
  return step(__func__, balancer, wait, what);
}

/* A process may die after the last walker has ended, and its outcomes with it: the walkers whose
 * outcomes are missing are worked on again. */
static int end_surviving(rg_balancer balancer) {
  for (int done = 0, what;;) {
    int error = rgi_restart_end(balancer, &done);
    if (done || error)
      return error;
    for (what = 0; what != RG_BALANCE_DONE;)
      RGI_TRY(step(balancer->members.call, balancer, 1, &what));
  }
}

/* It may begin again. */
static void rest(rg_balancer balancer) {
  balancer->stage = RGI_BALANCER_ENDED;
  balancer->work.run++;
  balancer->work.stopping = 0;
  balancer->planner.error = RG_SUCCESS;
  balancer->survival.store.filled = 0;
  rgi_search_forget(&balancer->async.search);
  rgi_queue_free(&balancer->list);
  rgi_balancer_forget_ids(balancer);
  rgi_team_free(&balancer->team);
}

static int end(const char *call, rg_balancer balancer) {
  RGI_TRY(rgi_balancer_enter(call, balancer));
  if (balancer->stage != RGI_BALANCER_DONE)
    return rgi_error(RG_ERR_ARG,
                     "%s: the walkers have not ended: call rg_balance_step until it "
                     "says RG_BALANCE_DONE",
                     call);
  int error = balancer->members.survives     ? end_surviving(balancer)
              : balancer->async.board.shared ? rgi_async_end(balancer)
                                             : RG_SUCCESS;
  if (balancer->members.survives ? balancer->stage != RGI_BALANCER_DONE : error)
    return broken_if(balancer, rgi_error_report_under(call, error));
  if (!balancer->members.survives)
    error = rgi_outcome_report(&balancer->members, &balancer->outcomes, balancer->work.run,
                               &balancer->planner);
  rest(balancer);
  return error;
}

int rg_balance_end(rg_balancer balancer) {
  return end(__func__, balancer);
}

int rg_balance_run(rg_balancer balancer) {
  int what = 0;
  RGI_TRY(begin(__func__, balancer));
  while (what != RG_BALANCE_DONE)
    RGI_TRY(step(__func__, balancer, 1, &what));
  return end(__func__, balancer);
}

int rg_balance_drop(rg_balancer balancer, int what) {
  RGI_TRY(rgi_balancer_check(__func__, balancer));
  if (what < 1 || what > (RG_BALANCE_OUTCOMES | RG_BALANCE_PACES))
    return rgi_error(RG_ERR_ARG, "%s: %d is no sum of RG_BALANCE_OUTCOMES and RG_BALANCE_PACES",
                     __func__, what);
  if (!rgi_balancer_rests(balancer))
    return rgi_error(RG_ERR_ARG, "%s: only before a run, or after rg_balance_end", __func__);
  balancer->drops = rgi_mix_bits(balancer->drops + (uint64_t)what);
  if (what & RG_BALANCE_PACES)
    rgi_pace_table_free(&balancer->paces);
  if (what & RG_BALANCE_OUTCOMES) {
    rgi_outcome_list_free(&balancer->outcomes);
    rgi_balancer_forget_gathered(balancer);
    rgi_record_index_clear(&balancer->survival.index);
    rgi_store_close(&balancer->survival.store);
    balancer->survival.store.dropped++;
  }
  return RG_SUCCESS;
}
