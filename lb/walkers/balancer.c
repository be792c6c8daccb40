/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The balancer as an object, and its life: NEW until rg_balance_begin, RUNNING until no walker is
 * left, DONE until rg_balance_end, then ENDED. After an error of the library's own it is BROKEN and
 * can only be freed. The steps themselves are those of round.c or async.c; restart.c stands around
 * them in a job that survives deaths. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "base/sized.h"
#include "formation/group.h"
#include "policies/policy.h"
#include "walkers/async.h"
#include "walkers/balancer.h"
#include "walkers/balancer_state.h"
#include "walkers/buddy.h"
#include "walkers/layout.h"
#include "walkers/load_board.h"
#include "walkers/load_table.h"
#include "walkers/outcome.h"
#include "walkers/outcome_list.h"
#include "walkers/queue.h"
#include "walkers/restart.h"
#include "walkers/round.h"
#include "walkers/store.h"
#include "walkers/store_index.h"
#include "walkers/survival.h"
#include "walkers/walker_team.h"
#include "walkers/work.h"

#define MAGIC 0x62616c6eu

int rgi_balancer_check(const char *call, rg_balancer b) {
  if (!b || b->magic != MAGIC)
    return rgi_error(RG_ERR_ARG, "%s: no balancer, or freed already", call);
  return RG_SUCCESS;
}

/* --- create, add, free ------------------------------------------------------------------- */

static int check_settings(const char *call, const struct rg_balancer_s *b) {
  const rg_walker_kind *k = &b->kind;
  const rg_balance_options *o = &b->options;
  int packing = (k->packed != NULL) + (k->pack != NULL) + (k->unpack != NULL);
  if (!k->unit || !k->left)
    return rgi_error(RG_ERR_ARG, "%s: the kind of walker has no function %s", call,
                     k->unit ? "left" : "unit");
  if (packing != 0 && packing != 3)
    return rgi_error(RG_ERR_ARG, "%s: packed, pack and unpack are needed together", call);
  if (k->bytes > INT32_MAX)
    return rgi_error(RG_ERR_ARG, "%s: a state of %zu bytes; at most 2^31 - 1", call, k->bytes);
  if (!b->policy.plan)
    return rgi_error(RG_ERR_ARG, "%s: the policy has no function plan", call);
  if (o->group < 0 || !(o->limit >= 0))
    return rgi_error(RG_ERR_ARG, "%s: group %d, limit %g: neither may be negative", call, o->group,
                     o->limit);
  return RG_SUCCESS;
}

/* The group, and what the process must know of it after members have died. */
static int take_group(rg_balancer b, rg_group g) {
  RGI_TRY(rg_group_dup(g, &b->all));
  RGI_TRY(rg_group_dup(b->all, &b->first));
  RGI_TRY(rg_group_rank(b->all, &b->rank));
  RGI_TRY(rg_group_size(b->all, &b->size));
  b->first_rank = b->rank;
  b->first_size = b->size;
  b->first_context = b->all->context;
  b->survives = rgi_options_choice(RGI_OPT_SURVIVE) != 0;
  b->buddy.rank = -1;
  return RG_SUCCESS;
}

/* The library's own copies of what the caller has filled in. */
static int take_settings(rg_balancer b, const rg_walker_kind *kind,
                         const rg_balance_options *options) {
  RGI_TRY(rgi_sized_take(&b->kind, sizeof b->kind, kind, "rg_balance_create: kind"));
  if (options)
    RGI_TRY(rgi_sized_take(&b->options, sizeof b->options, options, "rg_balance_create: options"));
  b->policy.size = sizeof b->policy;
  if (b->options.policy)
    RGI_TRY(rgi_policy_take("rg_balance_create: policy", b->options.policy, &b->policy));
  else
    RGI_TRY(rg_policy_parse(NULL, &b->policy));
  b->options.policy = NULL;
  return check_settings("rg_balance_create", b);
}

int rg_balance_create(rg_group g, const rg_walker_kind *kind, const rg_balance_options *options,
                      rg_balancer *out) {
  RGI_REQUIRE(kind);
  RGI_REQUIRE(out);
  rg_balancer b = calloc(1, sizeof *b);
  if (!b)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", __func__);
  b->magic = MAGIC;
  int error = take_settings(b, kind, options);
  if (!error)
    error = take_group(b, g);
  if (error) {
    rg_group_free(&b->all);
    rg_group_free(&b->first);
    free(b);
    return error;
  }
  *out = b;
  return RG_SUCCESS;
}

/* Whether operations under way may still read or write the memory of a balancer: of a broken one,
 * or of one whose end has failed (RG_TIMEOUT). */
static int in_use(const struct rg_balancer_s *b) {
  return b->round || (b->stage == RGI_BALANCER_BROKEN && (b->out || b->idle.request));
}

static void free_run(rg_balancer b) {
  rgi_work_leave(b);
  rgi_walker_team_free(&b->team);
  rgi_buddy_close(b);
  rgi_queue_free(&b->list);
  rgi_queue_free(&b->work.born);
  rg_plan_free(&b->plan);
  free(b->rows);
  free(b->row_stamps);
  free(b->joiners);
  free(b->leader_of);
  free(b->reports);
  free(b->first_rank_of);
}

int rg_balance_free(rg_balancer *b) {
  RGI_REQUIRE(b);
  if (!*b)
    return RG_SUCCESS;
  RGI_TRY(rgi_balancer_check(__func__, *b));
  if ((*b)->stage == RGI_BALANCER_RUNNING || (*b)->stage == RGI_BALANCER_DONE)
    return rgi_error(RG_ERR_ARG, "%s: it runs: call rg_balance_end first", __func__);
  (*b)->magic = 0;
  if (!in_use(*b)) {
    free_run(*b);
    rgi_store_close(*b);
    rgi_store_index_clear(*b);
    rgi_outcome_list_free(&(*b)->outcomes);
    rg_group_free(&(*b)->all);
    rg_group_free(&(*b)->first);
    free(*b);
  }
  *b = NULL;
  return RG_SUCCESS;
}

static int check_new(const char *call, rg_balancer b, const rg_walker_new *w) {
  if (!(w->left >= 0) && w->left != RG_LOAD_UNKNOWN)
    return rgi_error(RG_ERR_ARG, "%s: walker %lld has %g units left", call, (long long)w->id,
                     w->left);
  if (w->state && !w->ended && !b->kind.unpack && w->bytes != b->kind.bytes)
    return rgi_error(RG_ERR_ARG, "%s: walker %lld has a state of %zu bytes, its kind one of %zu",
                     call, (long long)w->id, w->bytes, b->kind.bytes);
  if (w->least > b->size || (w->most > 0 && w->least > w->most) || w->most < 0 || w->least < 0)
    return rgi_error(RG_ERR_ARG, "%s: walker %lld needs %lld to %lld processes, of %d", call,
                     (long long)w->id, (long long)w->least, (long long)w->most, b->size);
  if ((b->stage != RGI_BALANCER_NEW || w->ended) && !(b->work.in_unit && rgi_balancer_leads(b)))
    return rgi_error(RG_ERR_ARG,
                     "%s: walker %lld: only before the run, or in a unit by rank 0 of "
                     "its group",
                     call, (long long)w->id);
  return RG_SUCCESS;
}

int rg_balance_add(rg_balancer b, const rg_walker_new *walker) {
  rg_walker_new own, *w = &own;
  RGI_TRY(rgi_balancer_check(__func__, b));
  RGI_TRY(rgi_sized_take(w, sizeof *w, walker, "rg_balance_add: walker"));
  RGI_TRY(check_new(__func__, b, w));
  rgi_queue_entry e = {.id = w->id,
                       .least = w->least,
                       .most = w->most,
                       .left = w->left,
                       .unit = w->unit > 0 ? w->unit : 0,
                       .bytes = w->state ? w->bytes : 0,
                       .ended = w->ended};
  if (w->ended && !b->store)
    return rgi_outcome_add(
        b, &(rg_balance_outcome){
               .id = w->id, .rank = b->rank, .text = "", .state = w->state, .bytes = e.bytes});
  if (w->state) {
    e.memory = malloc(w->bytes ? w->bytes : 1);
    if (!e.memory)
      return rgi_error(RG_ERR_NOMEM, "%s: no memory for %zu bytes", __func__, w->bytes);
    memcpy(e.memory, w->state, w->bytes);
  }
  int error = rgi_queue_add(b->stage == RGI_BALANCER_NEW ? &b->list : &b->work.born, &e);
  if (error)
    free(e.memory);
  return error;
}

/* --- begin, step, end --------------------------------------------------------------------- */

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
  if (b->survives)
    return broken_unless_new(b, rgi_restart_begin(b));
  RGI_TRY(rgi_layout_agree(b));
  RGI_TRY(rgi_layout_make(b));
  b->stage = RGI_BALANCER_RUNNING;
  return broken_if(b, b->policy.interval > 0 ? rgi_round_begin(b) : rgi_async_begin(b));
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
  if (!rgi_survival_look(b))
    error = b->policy.interval > 0 ? rgi_round_step(b, wait, what) : rgi_async_step(b, wait, what);
  if (!rgi_survival_failure(b))
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
  int error = b->survives ? end_surviving(b) : b->board ? rgi_async_end(b) : RG_SUCCESS;
  if (b->survives ? b->stage != RGI_BALANCER_DONE : error)
    return broken_if(b, error);
  b->stage = RGI_BALANCER_ENDED;
  rgi_walker_team_free(&b->team);
  return b->survives ? error : rgi_outcome_report(b);
}

int rg_balance_run(rg_balancer b) {
  int what = 0;
  RGI_TRY(rg_balance_begin(b));
  while (what != RG_BALANCE_DONE)
    RGI_TRY(rg_balance_step(b, 1, &what));
  return rg_balance_end(b);
}

/* --- counts and loads ----------------------------------------------------------------- */

int rg_balance_get_statistics(rg_balancer b, rg_balance_statistics *statistics) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  return rgi_sized_give(statistics, &b->counts, sizeof b->counts,
                        "rg_balance_get_statistics: statistics");
}

int rg_balance_loads(rg_balancer b, int64_t room, rg_load loads[], int64_t *count) {
  rg_load_table t = {0};
  RGI_TRY(rgi_balancer_check(__func__, b));
  RGI_REQUIRE(count);
  if (room > 0)
    RGI_REQUIRE(loads);
  if (b->locked)
    return rgi_error(RG_ERR_ARG, "%s: a policy has the loads in its table; it may not ask for them",
                     __func__);
  if (b->board) {
    RGI_TRY(rgi_load_board_lock(b));
    int error = rgi_load_table_make(b, &t);
    rgi_load_board_unlock(b);
    RGI_TRY(error);
  }
  *count = b->row_count;
  for (int i = 0; i < b->row_count && i < room; i++)
    loads[i] = b->rows[i];
  return RG_SUCCESS;
}
