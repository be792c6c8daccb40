/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The life of a balancer: NEW until rg_balance_begin, RUNNING until no walker is left, DONE until
 * rg_balance_end, then ENDED, from where it may begin again. After an error of the library's own it
 * is BROKEN and can only be freed. The steps themselves are those of sync.c or async.c;
 * restart.c stands around them in a job that survives deaths. */
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

static int broken_if(rg_balancer b, int error) {
  if (error)
    b->stage = RGI_BALANCER_BROKEN;
  return error;
}

/* In a job that does not survive. Messages of the last run that come late are not taken for those
 * of this one, since that has a group of its own. */
static int begin_first(rg_balancer b) {
  if (b->work.run > 0)
    RGI_TRY(rgi_membership_renew(&b->members));
  RGI_TRY(rgi_first_agree(b));
  RGI_TRY(rgi_first_share_paces(b));
  RGI_TRY(rgi_first_make(b));
  b->stage = RGI_BALANCER_RUNNING;
  return b->planner.policy.interval > 0 ? rgi_sync_begin(b) : rgi_async_begin(b);
}

static int begin(const char *call, rg_balancer b) {
  RGI_TRY(rgi_balancer_enter(call, b));
  if (b->stage == RGI_BALANCER_BROKEN)
    return rgi_error(RG_ERR_ARG, "%s: an earlier call has failed: it can only be freed", call);
  if (!rgi_balancer_rests(b))
    return rgi_error(RG_ERR_ARG, "%s: it has begun already", call);
  b->counts.ended = rgi_clock_now();
  int error =
      rgi_error_report_under(call, b->members.survives ? rgi_restart_begin(b) : begin_first(b));
  if (!rgi_balancer_rests(b)) {
    rgi_balancer_forget_gathered(b);
    broken_if(b, error);
  }
  return error;
}

int rg_balance_begin(rg_balancer b) {
  return begin(__func__, b);
}

static int step(const char *call, rg_balancer b, int wait, int *what) {
  b->members.call = call;
  if (b->stage == RGI_BALANCER_DONE) {
    *what = RG_BALANCE_DONE;
    return RG_SUCCESS;
  }
  if (b->stage != RGI_BALANCER_RUNNING)
    return rgi_error(RG_ERR_ARG, "%s: it does not run: call rg_balance_begin first", call);
  int error = RG_SUCCESS;
  if (!rgi_membership_look(&b->members))
    error = b->planner.policy.interval > 0 ? rgi_sync_step(b, wait, what)
                                           : rgi_async_step(b, wait, what);
  if (!rgi_membership_failure(&b->members))
    return broken_if(b, rgi_error_report_under(call, error));
  *what = RG_BALANCE_MOVED;
  return broken_if(b, rgi_error_report_under(call, rgi_restart_recover(b)));
}

int rg_balance_step(rg_balancer b, int wait, int *what) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  RGI_REQUIRE(what);
  return step(__func__, b, wait, what);
}

/* A process may die after the last walker has ended, and its outcomes with it: the walkers whose
 * outcomes are missing are worked on again. */
static int end_surviving(rg_balancer b) {
  for (int done = 0, what;;) {
    int error = rgi_restart_end(b, &done);
    if (done || error)
      return error;
    for (what = 0; what != RG_BALANCE_DONE;)
      RGI_TRY(step(b->members.call, b, 1, &what));
  }
}

/* It may begin again. */
static void rest(rg_balancer b) {
  b->stage = RGI_BALANCER_ENDED;
  b->work.run++;
  b->work.stopping = 0;
  b->planner.error = RG_SUCCESS;
  b->survival.store.filled = 0;
  rgi_search_forget(&b->async.search);
  rgi_queue_free(&b->list);
  rgi_balancer_forget_ids(b);
  rgi_team_free(&b->team);
}

static int end(const char *call, rg_balancer b) {
  RGI_TRY(rgi_balancer_enter(call, b));
  if (b->stage != RGI_BALANCER_DONE)
    return rgi_error(RG_ERR_ARG,
                     "%s: the walkers have not ended: call rg_balance_step until it "
                     "says RG_BALANCE_DONE",
                     call);
  int error = b->members.survives     ? end_surviving(b)
              : b->async.board.shared ? rgi_async_end(b)
                                      : RG_SUCCESS;
  if (b->members.survives ? b->stage != RGI_BALANCER_DONE : error)
    return broken_if(b, rgi_error_report_under(call, error));
  if (!b->members.survives)
    error = rgi_outcome_report(&b->members, &b->outcomes, b->work.run, &b->planner);
  rest(b);
  return error;
}

int rg_balance_end(rg_balancer b) {
  return end(__func__, b);
}

int rg_balance_run(rg_balancer b) {
  int what = 0;
  RGI_TRY(begin(__func__, b));
  while (what != RG_BALANCE_DONE)
    RGI_TRY(step(__func__, b, 1, &what));
  return end(__func__, b);
}

int rg_balance_drop(rg_balancer b, int what) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  if (what < 1 || what > (RG_BALANCE_OUTCOMES | RG_BALANCE_PACES))
    return rgi_error(RG_ERR_ARG, "%s: %d is no sum of RG_BALANCE_OUTCOMES and RG_BALANCE_PACES",
                     __func__, what);
  if (!rgi_balancer_rests(b))
    return rgi_error(RG_ERR_ARG, "%s: only before a run, or after rg_balance_end", __func__);
  b->drops = rgi_mix_bits(b->drops + (uint64_t)what);
  if (what & RG_BALANCE_PACES)
    rgi_pace_table_free(&b->paces);
  if (what & RG_BALANCE_OUTCOMES) {
    rgi_outcome_list_free(&b->outcomes);
    rgi_balancer_forget_gathered(b);
    rgi_record_index_clear(&b->survival.index);
    rgi_store_close(&b->survival.store);
    b->survival.store.dropped++;
  }
  return RG_SUCCESS;
}
