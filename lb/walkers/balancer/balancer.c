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
#include "base/spare.h"
#include "policies/load.h"
#include "policies/policy.h"
#include "timeline/timeline.h"
#include "walkers/balancer/balancer.h"
#include "walkers/state/balancer_state.h"
#include "walkers/team/meeting.h"

#define MAGIC 0x62616c6eu

int rgi_balancer_check(const char *call, rg_balancer balancer) {
  if (!balancer || balancer->magic != MAGIC)
    return rgi_error(RG_ERR_ARG, "%s: no balancer, or freed already", call);
  return RG_SUCCESS;
}

int rgi_balancer_enter(const char *call, rg_balancer balancer) {
  RGI_TRY(rgi_balancer_check(call, balancer));
  balancer->members.call = call;
  return RG_SUCCESS;
}

int rgi_balancer_rests(rg_balancer balancer) {
  return balancer->stage == RGI_BALANCER_NEW || balancer->stage == RGI_BALANCER_ENDED;
}

/* --- create, add, free ------------------------------------------------------------------- */

static int check_settings(const char *call, const struct rg_balancer_s *balancer) {
  const rg_walker_kind *kind = &balancer->work.kind;
  const rg_balance_options *options = &balancer->options;
  int packing = (kind->packed != NULL) + (kind->pack != NULL) + (kind->unpack != NULL);
  if (!kind->unit || !kind->left)
    return rgi_error(RG_ERR_ARG, "%s: the kind of walker has no function %s", call,
                     kind->unit ? "left" : "unit");
  if (packing != 0 && packing != 3)
    return rgi_error(RG_ERR_ARG, "%s: packed, pack and unpack are needed together", call);
  if (!kind->meets != !kind->meeting)
    return rgi_error(RG_ERR_ARG, "%s: meets and meeting are needed together", call);
  if (!balancer->planner.policy.plan)
    return rgi_error(RG_ERR_ARG, "%s: the policy has no function plan", call);
  if (options->group < 0 || !(options->limit >= 0))
    return rgi_error(RG_ERR_ARG, "%s: group %d, limit %g: neither may be negative", call,
                     options->group, options->limit);
  return RG_SUCCESS;
}

/* The library's own copies of what the caller has filled in. */
static int take_settings(rg_balancer balancer, const rg_walker_kind *kind,
                         const rg_balance_options *options) {
  RGI_TRY(rgi_sized_take(&balancer->work.kind, sizeof balancer->work.kind, kind,
                         "rg_balance_create: kind"));
  if (options)
    RGI_TRY(rgi_sized_take(&balancer->options, sizeof balancer->options, options,
                           "rg_balance_create: options"));
  balancer->planner.policy.size = sizeof balancer->planner.policy;
  if (balancer->options.policy)
    RGI_TRY(rgi_policy_take("rg_balance_create: policy", balancer->options.policy,
                            &balancer->planner.policy));
  else
    RGI_TRY(rg_policy_parse(NULL, &balancer->planner.policy));
  balancer->options.policy = NULL;
  balancer->team.timeline = balancer->options.timeline;
  balancer->team.part = rgi_timeline_part_open(balancer->options.timeline);
  balancer->work.limit = balancer->options.limit;
  return check_settings("rg_balance_create", balancer);
}

int rg_balance_create(rg_group group, const rg_walker_kind *kind, const rg_balance_options *options,
                      rg_balancer *out) {
  RGI_REQUIRE(kind);
  RGI_REQUIRE(out);
  rg_balancer balancer = rgi_spare_alloc_zeroed(1, sizeof *balancer);
  if (!balancer)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", __func__);
  balancer->magic = MAGIC;
  rgi_balancer_state_connect(balancer);
  int error = take_settings(balancer, kind, options);
  if (!error)
    error = rgi_membership_open(&balancer->members, group);
  if (error) {
    rgi_membership_close(&balancer->members);
    rgi_spare_free(balancer);
    return error;
  }
  *out = balancer;
  return RG_SUCCESS;
}

/* Whether operations under way may still read or write the memory of a balancer: of a broken one,
 * or of one whose end has failed (RG_TIMEOUT). */
static int in_use(const struct rg_balancer_s *balancer) {
  return balancer->round.request || balancer->async.end ||
         (balancer->stage == RGI_BALANCER_BROKEN &&
          (balancer->wire.out || balancer->async.search.request));
}

int rg_balance_free(rg_balancer *balancer) {
  RGI_REQUIRE(balancer);
  if (!*balancer)
    return RG_SUCCESS;
  RGI_TRY(rgi_balancer_check(__func__, *balancer));
  if ((*balancer)->stage == RGI_BALANCER_RUNNING || (*balancer)->stage == RGI_BALANCER_DONE)
    return rgi_error(RG_ERR_ARG, "%s: it runs: call rg_balance_end first", __func__);
  (*balancer)->magic = 0;
  if (!in_use(*balancer)) {
    rgi_balancer_state_free_run(*balancer);
    rgi_store_close(&(*balancer)->survival.store);
    rgi_record_index_clear(&(*balancer)->survival.index);
    rgi_outcome_list_free(&(*balancer)->outcomes);
    rgi_outcome_list_free(&(*balancer)->gathered);
    rgi_pace_table_free(&(*balancer)->paces);
    rgi_balancer_forget_ids(*balancer);
    rgi_spare_free((*balancer)->survival.living);
    rgi_membership_close(&(*balancer)->members);
    rgi_spare_free(*balancer);
  }
  *balancer = NULL;
  return RG_SUCCESS;
}

/* "2 to 4", "at least 2" */
static const char *needs(const rg_walker_new *walker, char text[64]) {
  if (walker->most)
    snprintf(text, 64, "%lld to %lld", (long long)walker->least, (long long)walker->most);
  else
    snprintf(text, 64, "at least %lld", (long long)walker->least);
  return text;
}

static int check_new(const char *call, rg_balancer balancer, const rg_walker_new *walker) {
  char text[64];
  if (!rgi_load_is_left(walker->left))
    return rgi_error(RG_ERR_ARG, "%s: walker %lld has %g units left", call, (long long)walker->id,
                     walker->left);
  if (!rgi_load_is_left(walker->unit))
    return rgi_error(RG_ERR_ARG, "%s: a unit of walker %lld takes %g s", call,
                     (long long)walker->id, walker->unit);
  if (walker->met < 0)
    return rgi_error(RG_ERR_ARG, "%s: the last meeting of walker %lld has the number %lld", call,
                     (long long)walker->id, (long long)walker->met);
  if (walker->state && !walker->ended && !balancer->work.kind.unpack &&
      walker->bytes != balancer->work.kind.bytes)
    return rgi_error(RG_ERR_ARG, "%s: walker %lld has a state of %zu bytes, its kind one of %zu",
                     call, (long long)walker->id, walker->bytes, balancer->work.kind.bytes);
  if (walker->least > balancer->members.size ||
      (walker->most > 0 && walker->least > walker->most) || walker->most < 0 || walker->least < 0)
    return rgi_error(RG_ERR_ARG, "%s: walker %lld needs %s processes, of %d", call,
                     (long long)walker->id, needs(walker, text), balancer->members.size);
  if ((!rgi_balancer_rests(balancer) || walker->ended) &&
      !(balancer->work.in_unit && rgi_team_leads(&balancer->team)))
    return rgi_error(RG_ERR_ARG,
                     "%s: walker %lld: only before a run, or in a unit by rank 0 of "
                     "its group",
                     call, (long long)walker->id);
  return RG_SUCCESS;
}

static int by_id(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Walkers that meet are told apart by their ids. */
static int note_id(const char *call, rg_balancer balancer, int64_t id) {
  int64_t *key = balancer->work.kind.meets ? rgi_spare_alloc(sizeof *key) : NULL;
  if (!balancer->work.kind.meets)
    return RG_SUCCESS;
  if (key)
    *key = id;
  int64_t **node = key ? tsearch(key, &balancer->ids, by_id) : NULL;
  if (!node) {
    rgi_spare_free(key);
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for walker %lld", call, (long long)id);
  }
  if (*node == key)
    return RG_SUCCESS;
  rgi_spare_free(key);
  return rgi_error(RG_ERR_ARG,
                   "%s: there is a walker %lld already: walkers that meet need "
                   "different ids",
                   call, (long long)id);
}

void rgi_balancer_forget_ids(rg_balancer balancer) {
  tdestroy(balancer->ids, free);
  balancer->ids = NULL;
}

/* Before a run the paces of the last one are not known to all: rg_balance_begin sets them. */
static double unit_of(rg_balancer balancer, const rg_walker_new *walker) {
  if (walker->unit > 0)
    return walker->unit;
  return rgi_balancer_rests(balancer) ? 0 : rgi_pace_table_unit(&balancer->paces, walker->id);
}

/* The number of the last meeting, known as the pace is, of a walker that continues one. */
static int64_t met_of(rg_balancer balancer, const rg_walker_new *walker) {
  if (walker->met > 0 || !walker->state)
    return walker->met;
  return rgi_balancer_rests(balancer) ? 0 : rgi_pace_table_met(&balancer->paces, walker->id);
}

int rg_balance_add(rg_balancer balancer, const rg_walker_new *given) {
  rg_walker_new own, *walker = &own;
  RGI_TRY(rgi_balancer_check(__func__, balancer));
  RGI_TRY(rgi_sized_take(walker, sizeof *walker, given, "rg_balance_add: walker"));
  RGI_TRY(check_new(__func__, balancer, walker));
  rgi_queue_entry entry = {.id = walker->id,
                           .least = walker->least,
                           .most = walker->most,
                           .left = walker->left,
                           .unit = unit_of(balancer, walker),
                           .met = met_of(balancer, walker),
                           .bytes = walker->state ? walker->bytes : 0,
                           .ended = walker->ended};
  if (walker->ended && !balancer->survival.store.shared)
    return rgi_outcome_list_insert(&balancer->outcomes,
                                   &(rg_balance_outcome){.id = walker->id,
                                                         .rank = balancer->members.rank,
                                                         .text = "",
                                                         .state = walker->state,
                                                         .bytes = entry.bytes,
                                                         .run = balancer->work.run});
  if (walker->state) {
    entry.memory = rgi_spare_alloc(walker->bytes ? walker->bytes : 1);
    if (!entry.memory)
      return rgi_error(RG_ERR_NOMEM, "%s: no memory for %zu bytes", __func__, walker->bytes);
    memcpy(entry.memory, walker->state, walker->bytes);
  }
  int error = walker->ended ? RG_SUCCESS : note_id(__func__, balancer, walker->id);
  if (!error)
    error = rgi_queue_add(rgi_balancer_rests(balancer) ? &balancer->list : &balancer->work.born,
                          &entry);
  if (error)
    rgi_spare_free(entry.memory);
  return error;
}

/* --- counts and loads ----------------------------------------------------------------- */

int rg_balance_get_statistics(rg_balancer balancer, rg_balance_statistics *statistics) {
  RGI_TRY(rgi_balancer_check(__func__, balancer));
  rg_balance_statistics s = balancer->counts;
  s.groups = balancer->team.formed;
  return rgi_sized_give(statistics, &s, sizeof s, "rg_balance_get_statistics: statistics");
}

int rg_balance_loads(rg_balancer balancer, int64_t room, rg_load loads[], int64_t *count) {
  rg_load_table table = {0};
  RGI_TRY(rgi_balancer_check(__func__, balancer));
  RGI_REQUIRE(count);
  if (room > 0)
    RGI_REQUIRE(loads);
  if (balancer->async.board.locked)
    return rgi_error(RG_ERR_ARG, "%s: a policy has the loads in its table; it may not ask for them",
                     __func__);
  if (balancer->async.board.shared) {
    RGI_TRY(rgi_board_lock(&balancer->async.board));
    int error = rgi_planner_read_board(&balancer->async.board, &balancer->async.nodes.loads,
                                       &balancer->planner, &table);
    rgi_board_unlock(&balancer->async.board);
    RGI_TRY(error);
  }
  *count = balancer->planner.row_count;
  for (int i = 0; i < balancer->planner.row_count && i < room; i++)
    loads[i] = balancer->planner.rows[i];
  return RG_SUCCESS;
}
