/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The balancer as an object: made from the application's settings, given walkers, freed; and what
 * it tells of itself. Its run is in run.c. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "policies/load.h"
#include "policies/policy.h"
#include "timeline/timeline.h"
#include "walkers/balancer/balancer.h"
#include "walkers/state/balancer_state.h"
#include "walkers/team/meeting.h"

#define MAGIC 0x62616c6eu

int rgi_balancer_check(const char *call, rg_balancer b) {
  if (!b || b->magic != MAGIC)
    return rgi_error(RG_ERR_ARG, "%s: no balancer, or freed already", call);
  return RG_SUCCESS;
}

int rgi_balancer_enter(const char *call, rg_balancer b) {
  RGI_TRY(rgi_balancer_check(call, b));
  b->members.call = call;
  return RG_SUCCESS;
}

int rgi_balancer_rests(rg_balancer b) {
  return b->stage == RGI_BALANCER_NEW || b->stage == RGI_BALANCER_ENDED;
}

/* --- create, add, free ------------------------------------------------------------------- */

static int check_settings(const char *call, const struct rg_balancer_s *b) {
  const rg_walker_kind *k = &b->work.kind;
  const rg_balance_options *o = &b->options;
  int packing = (k->packed != NULL) + (k->pack != NULL) + (k->unpack != NULL);
  if (!k->unit || !k->left)
    return rgi_error(RG_ERR_ARG, "%s: the kind of walker has no function %s", call,
                     k->unit ? "left" : "unit");
  if (packing != 0 && packing != 3)
    return rgi_error(RG_ERR_ARG, "%s: packed, pack and unpack are needed together", call);
  if (!k->meets != !k->meeting)
    return rgi_error(RG_ERR_ARG, "%s: meets and meeting are needed together", call);
  if (!b->planner.policy.plan)
    return rgi_error(RG_ERR_ARG, "%s: the policy has no function plan", call);
  if (o->group < 0 || !(o->limit >= 0))
    return rgi_error(RG_ERR_ARG, "%s: group %d, limit %g: neither may be negative", call, o->group,
                     o->limit);
  return RG_SUCCESS;
}

/* The library's own copies of what the caller has filled in. */
static int take_settings(rg_balancer b, const rg_walker_kind *kind,
                         const rg_balance_options *options) {
  RGI_TRY(rgi_sized_take(&b->work.kind, sizeof b->work.kind, kind, "rg_balance_create: kind"));
  if (options)
    RGI_TRY(rgi_sized_take(&b->options, sizeof b->options, options, "rg_balance_create: options"));
  b->planner.policy.size = sizeof b->planner.policy;
  if (b->options.policy)
    RGI_TRY(rgi_policy_take("rg_balance_create: policy", b->options.policy, &b->planner.policy));
  else
    RGI_TRY(rg_policy_parse(NULL, &b->planner.policy));
  b->options.policy = NULL;
  b->team.timeline = b->options.timeline;
  b->team.part = rgi_timeline_part_open(b->options.timeline);
  b->work.limit = b->options.limit;
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
  rgi_balancer_state_connect(b);
  int error = take_settings(b, kind, options);
  if (!error)
    error = rgi_membership_open(&b->members, g);
  if (error) {
    rgi_membership_close(&b->members);
    free(b);
    return error;
  }
  *out = b;
  return RG_SUCCESS;
}

/* Whether operations under way may still read or write the memory of a balancer: of a broken one,
 * or of one whose end has failed (RG_TIMEOUT). */
static int in_use(const struct rg_balancer_s *b) {
  return b->round.request || b->async.end ||
         (b->stage == RGI_BALANCER_BROKEN && (b->wire.out || b->async.search.request));
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
    rgi_balancer_state_free_run(*b);
    rgi_store_close(&(*b)->survival.store);
    rgi_record_index_clear(&(*b)->survival.index);
    rgi_outcome_list_free(&(*b)->outcomes);
    rgi_outcome_list_free(&(*b)->gathered);
    rgi_pace_table_free(&(*b)->paces);
    rgi_balancer_forget_ids(*b);
    free((*b)->survival.living);
    rgi_membership_close(&(*b)->members);
    free(*b);
  }
  *b = NULL;
  return RG_SUCCESS;
}

/* "2 to 4", "at least 2" */
static const char *needs(const rg_walker_new *w, char text[64]) {
  if (w->most)
    snprintf(text, 64, "%lld to %lld", (long long)w->least, (long long)w->most);
  else
    snprintf(text, 64, "at least %lld", (long long)w->least);
  return text;
}

static int check_new(const char *call, rg_balancer b, const rg_walker_new *w) {
  char text[64];
  if (!rgi_load_is_left(w->left))
    return rgi_error(RG_ERR_ARG, "%s: walker %lld has %g units left", call, (long long)w->id,
                     w->left);
  if (!rgi_load_is_left(w->unit))
    return rgi_error(RG_ERR_ARG, "%s: a unit of walker %lld takes %g s", call, (long long)w->id,
                     w->unit);
  if (w->met < 0)
    return rgi_error(RG_ERR_ARG, "%s: the last meeting of walker %lld has the number %lld", call,
                     (long long)w->id, (long long)w->met);
  if (w->state && !w->ended && !b->work.kind.unpack && w->bytes != b->work.kind.bytes)
    return rgi_error(RG_ERR_ARG, "%s: walker %lld has a state of %zu bytes, its kind one of %zu",
                     call, (long long)w->id, w->bytes, b->work.kind.bytes);
  if (w->least > b->members.size || (w->most > 0 && w->least > w->most) || w->most < 0 ||
      w->least < 0)
    return rgi_error(RG_ERR_ARG, "%s: walker %lld needs %s processes, of %d", call,
                     (long long)w->id, needs(w, text), b->members.size);
  if ((!rgi_balancer_rests(b) || w->ended) && !(b->work.in_unit && rgi_team_leads(&b->team)))
    return rgi_error(RG_ERR_ARG,
                     "%s: walker %lld: only before a run, or in a unit by rank 0 of "
                     "its group",
                     call, (long long)w->id);
  return RG_SUCCESS;
}

static int by_id(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Walkers that meet are told apart by their ids. */
static int note_id(const char *call, rg_balancer b, int64_t id) {
  int64_t *key = b->work.kind.meets ? malloc(sizeof *key) : NULL;
  if (!b->work.kind.meets)
    return RG_SUCCESS;
  if (key)
    *key = id;
  int64_t **node = key ? tsearch(key, &b->ids, by_id) : NULL;
  if (!node) {
    free(key);
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for walker %lld", call, (long long)id);
  }
  if (*node == key)
    return RG_SUCCESS;
  free(key);
  return rgi_error(RG_ERR_ARG,
                   "%s: there is a walker %lld already: walkers that meet need "
                   "different ids",
                   call, (long long)id);
}

void rgi_balancer_forget_ids(rg_balancer b) {
  tdestroy(b->ids, free);
  b->ids = NULL;
}

/* Before a run the paces of the last one are not known to all: rg_balance_begin sets them. */
static double unit_of(rg_balancer b, const rg_walker_new *w) {
  if (w->unit > 0)
    return w->unit;
  return rgi_balancer_rests(b) ? 0 : rgi_pace_table_unit(&b->paces, w->id);
}

/* The same of its last meeting, of a walker that continues one. */
static int64_t met_of(rg_balancer b, const rg_walker_new *w) {
  if (w->met > 0 || !w->state)
    return w->met;
  return rgi_balancer_rests(b) ? 0 : rgi_pace_table_met(&b->paces, w->id);
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
                       .unit = unit_of(b, w),
                       .met = met_of(b, w),
                       .bytes = w->state ? w->bytes : 0,
                       .ended = w->ended};
  if (w->ended && !b->survival.store.shared)
    return rgi_outcome_list_insert(&b->outcomes, &(rg_balance_outcome){.id = w->id,
                                                                       .rank = b->members.rank,
                                                                       .text = "",
                                                                       .state = w->state,
                                                                       .bytes = e.bytes,
                                                                       .run = b->work.run});
  if (w->state) {
    e.memory = malloc(w->bytes ? w->bytes : 1);
    if (!e.memory)
      return rgi_error(RG_ERR_NOMEM, "%s: no memory for %zu bytes", __func__, w->bytes);
    memcpy(e.memory, w->state, w->bytes);
  }
  int error = w->ended ? RG_SUCCESS : note_id(__func__, b, w->id);
  if (!error)
    error = rgi_queue_add(rgi_balancer_rests(b) ? &b->list : &b->work.born, &e);
  if (error)
    free(e.memory);
  return error;
}

/* --- counts and loads ----------------------------------------------------------------- */

int rg_balance_get_statistics(rg_balancer b, rg_balance_statistics *statistics) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  rg_balance_statistics s = b->counts;
  s.groups = b->team.formed;
  return rgi_sized_give(statistics, &s, sizeof s, "rg_balance_get_statistics: statistics");
}

int rg_balance_loads(rg_balancer b, int64_t room, rg_load loads[], int64_t *count) {
  rg_load_table t = {0};
  RGI_TRY(rgi_balancer_check(__func__, b));
  RGI_REQUIRE(count);
  if (room > 0)
    RGI_REQUIRE(loads);
  if (b->async.board.locked)
    return rgi_error(RG_ERR_ARG, "%s: a policy has the loads in its table; it may not ask for them",
                     __func__);
  if (b->async.board.shared) {
    RGI_TRY(rgi_board_lock(&b->async.board));
    int error = rgi_planner_read_board(&b->async.board, &b->async.nodes.loads, &b->planner, &t);
    rgi_board_unlock(&b->async.board);
    RGI_TRY(error);
  }
  *count = b->planner.row_count;
  for (int i = 0; i < b->planner.row_count && i < room; i++)
    loads[i] = b->planner.rows[i];
  return RG_SUCCESS;
}
