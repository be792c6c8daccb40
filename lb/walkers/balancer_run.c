/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The life of a balancer: NEW until rg_balance_begin, RUNNING until no walker is left, DONE until
 * rg_balance_end, then ENDED. After an error of the library's own it is BROKEN and can only be
 * freed. The steps themselves are those of synchronous.c or async.c; restart.c stands around them
 * in a job that survives deaths. */
#include "base/clock.h"
#include "base/error.h"
#include "walkers/async.h"
#include "walkers/balancer.h"
#include "walkers/balancer_state.h"
#include "walkers/layout.h"
#include "walkers/membership.h"
#include "walkers/outcome.h"
#include "walkers/restart.h"
#include "walkers/synchronous.h"
#include "walkers/walker_team.h"

static int broken_if(rg_balancer b, int error) {
  if (error)
    b->stage = RGI_BALANCER_BROKEN;
  return error;
}

/* A balancer that has not begun may try again. */
static int broken_unless_new(rg_balancer b, int error) {
  return b->stage == RGI_BALANCER_NEW ? error : broken_if(b, error);
}

int rg_balance_begin(rg_balancer b) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  if (b->stage != RGI_BALANCER_NEW)
    return rgi_error(RG_ERR_ARG, "%s: it has begun already", __func__);
  b->counts.ended = rgi_clock_now();
  if (b->members.survives)
    return broken_unless_new(b, rgi_restart_begin(b));
  RGI_TRY(rgi_layout_agree(b));
  RGI_TRY(rgi_layout_make(b));
  b->stage = RGI_BALANCER_RUNNING;
  return broken_if(b,
                   b->planner.policy.interval > 0 ? rgi_synchronous_begin(b) : rgi_async_begin(b));
}

int rg_balance_step(rg_balancer b, int wait, int *what) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  RGI_REQUIRE(what);
  if (b->stage == RGI_BALANCER_DONE) {
    *what = RG_BALANCE_DONE;
    return RG_SUCCESS;
  }
  if (b->stage != RGI_BALANCER_RUNNING)
    return rgi_error(RG_ERR_ARG, "%s: it does not run: call rg_balance_begin first", __func__);
  int error = RG_SUCCESS;
  if (!rgi_membership_look(&b->members))
    error = b->planner.policy.interval > 0 ? rgi_synchronous_step(b, wait, what)
                                           : rgi_async_step(b, wait, what);
  if (!rgi_membership_failure(&b->members))
    return broken_if(b, error);
  *what = RG_BALANCE_MOVED;
  return broken_if(b, rgi_restart_recover(b));
}

/* A process may die after the last walker has ended, and its outcomes with it: the walkers whose
 * outcomes are missing are worked on again. */
static int end_surviving(rg_balancer b) {
  for (int done = 0, what;;) {
    int error = rgi_restart_end(b, &done);
    if (done || error)
      return error;
    for (what = 0; what != RG_BALANCE_DONE;)
      RGI_TRY(rg_balance_step(b, 1, &what));
  }
}

int rg_balance_end(rg_balancer b) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  if (b->stage != RGI_BALANCER_DONE)
    return rgi_error(RG_ERR_ARG,
                     "%s: the walkers have not ended: call rg_balance_step until it "
                     "says RG_BALANCE_DONE",
                     __func__);
  int error = b->members.survives     ? end_surviving(b)
              : b->async.board.shared ? rgi_async_end(b)
                                      : RG_SUCCESS;
  if (b->members.survives ? b->stage != RGI_BALANCER_DONE : error)
    return broken_if(b, error);
  b->stage = RGI_BALANCER_ENDED;
  rgi_walker_team_free(&b->team);
  return b->members.survives ? error : rgi_outcome_report(&b->members, &b->outcomes, &b->planner);
}

int rg_balance_run(rg_balancer b) {
  int what = 0;
  RGI_TRY(rg_balance_begin(b));
  while (what != RG_BALANCE_DONE)
    RGI_TRY(rg_balance_step(b, 1, &what));
  return rg_balance_end(b);
}
