/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The balancer as an object, and its life from begin to end. */
#include "walkers/balancer.h"

#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "formation/context.h"
#include "formation/group.h"
#include "shm/node.h"
#include "walkers/board.h"
#include "walkers/survive.h"
#include "walkers/vault.h"

#define MAGIC 0x62616c6eu

int rgi_balancer_check(const char *call, rg_balancer b) {
  if (!b || b->magic != MAGIC)
    return rgi_error(RG_ERR_ARG, "%s: no balancer, or freed already", call);
  return RG_SUCCESS;
}

/* --- walkers that wait ----------------------------------------------------------------- */

int rgi_entries_add(rgi_entries *e, const rgi_entry *entry) {
  if (e->count == e->room) {
    int room = e->room ? 2 * e->room : 16;
    rgi_entry *more = realloc(e->at, (size_t)room * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for %d walkers", room);
    e->at = more;
    e->room = room;
  }
  e->at[e->count++] = *entry;
  return RG_SUCCESS;
}

int rgi_entries_insert(rgi_entries *e, const rgi_entry *entry) {
  RGI_TRY(rgi_entries_add(e, entry));
  int at = e->count - 1;
  for (; at > 0 && e->at[at - 1].left < entry->left; at--)
    e->at[at] = e->at[at - 1];
  e->at[at] = *entry;
  return RG_SUCCESS;
}

rgi_entry rgi_entries_take(rgi_entries *e, int at) {
  rgi_entry taken = e->at[at];
  e->count--;
  memmove(e->at + at, e->at + at + 1, (size_t)(e->count - at) * sizeof *e->at);
  return taken;
}

void rgi_entries_free(rgi_entries *e) {
  for (int i = 0; i < e->count; i++)
    free(e->at[i].memory);
  free(e->at);
  *e = (rgi_entries){0};
}

void rgi_entries_show(const rgi_entry *at, int count, rg_waiting waiting[]) {
  for (int i = 0; i < count; i++)
    waiting[i] = (rg_waiting){.id = at[i].id,
                              .least = at[i].least,
                              .most = at[i].most,
                              .left = at[i].left,
                              .unit = at[i].unit > 0 ? at[i].unit : RG_UNKNOWN};
}

/* --- create, add, free ------------------------------------------------------------------- */

static int check_kind(const char *call, const rg_walker_kind *k, const rg_balance_options *o) {
  int packing = (k->packed != NULL) + (k->pack != NULL) + (k->unpack != NULL);
  if (!k->unit || !k->left)
    return rgi_error(RG_ERR_ARG, "%s: the kind of walker has no function %s", call,
                     k->unit ? "left" : "unit");
  if (packing != 0 && packing != 3)
    return rgi_error(RG_ERR_ARG, "%s: packed, pack and unpack are needed together", call);
  if (k->bytes > INT32_MAX)
    return rgi_error(RG_ERR_ARG, "%s: a state of %zu bytes; at most 2^31 - 1", call, k->bytes);
  if (o && o->policy && !o->policy->plan)
    return rgi_error(RG_ERR_ARG, "%s: the policy has no function plan", call);
  if (o && (o->group < 0 || !(o->limit >= 0)))
    return rgi_error(RG_ERR_ARG, "%s: group %d, limit %g: neither may be negative", call, o->group,
                     o->limit);
  return RG_SUCCESS;
}

/* The group, and what is to be known of it when some of it have died. */
static int take_group(rg_balancer b, rg_group g) {
  RGI_TRY(rg_group_dup(g, &b->all));
  RGI_TRY(rg_group_dup(b->all, &b->first));
  RGI_TRY(rg_group_rank(b->all, &b->rank));
  RGI_TRY(rg_group_size(b->all, &b->size));
  b->first_rank = b->rank;
  b->first_size = b->size;
  b->first_context = b->all->context;
  b->survives = rgi_options_choice(RGI_OPT_SURVIVE) != 0;
  b->keeper.rank = -1;
  return RG_SUCCESS;
}

int rg_balance_create(rg_group g, const rg_walker_kind *kind, const rg_balance_options *options,
                      rg_balancer *out) {
  RGI_REQUIRE(kind);
  RGI_REQUIRE(out);
  RGI_TRY(check_kind(__func__, kind, options));
  rg_balancer b = calloc(1, sizeof *b);
  if (!b)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", __func__);
  b->magic = MAGIC;
  b->kind = *kind;
  b->options = options ? *options : (rg_balance_options){0};
  int error = take_group(b, g);
  if (!error && options && options->policy)
    b->policy = *options->policy;
  else if (!error)
    error = rg_policy_parse(NULL, &b->policy);
  if (error) {
    rg_group_free(&b->all);
    rg_group_free(&b->first);
    free(b);
    return error;
  }
  *out = b;
  return RG_SUCCESS;
}

/* What others may still write to or read. */
static int in_use(const struct rg_balancer_s *b) {
  return b->stage == RGI_BROKEN && (b->round || b->out || b->idle.request);
}

static void free_run(rg_balancer b) {
  rgi_work_leave(b);
  rgi_crew_free(&b->crew);
  rgi_keeper_close(b);
  rgi_entries_free(&b->list);
  rgi_entries_free(&b->work.born);
  rg_plan_free(&b->plan);
  free(b->rows);
  free(b->row_stamps);
  free(b->joiners);
  free(b->leader_of);
  free(b->told);
  free(b->first_rank_of);
}

int rg_balance_free(rg_balancer *b) {
  RGI_REQUIRE(b);
  if (!*b)
    return RG_SUCCESS;
  RGI_TRY(rgi_balancer_check(__func__, *b));
  if ((*b)->stage == RGI_RUNNING || (*b)->stage == RGI_DONE)
    return rgi_error(RG_ERR_ARG, "%s: it runs: call rg_balance_end first", __func__);
  (*b)->magic = 0;
  if (!in_use(*b)) {
    free_run(*b);
    rgi_vault_close(*b);
    rgi_outcomes_free(&(*b)->outcomes);
    rg_group_free(&(*b)->all);
    rg_group_free(&(*b)->first);
    free(*b);
  }
  *b = NULL;
  return RG_SUCCESS;
}

static int check_new(const char *call, rg_balancer b, const rg_walker_new *w) {
  if (!(w->left >= 0) && w->left != RG_UNKNOWN)
    return rgi_error(RG_ERR_ARG, "%s: walker %lld has %g units left", call, (long long)w->id,
                     w->left);
  if (w->state && !w->ended && !b->kind.unpack && w->bytes != b->kind.bytes)
    return rgi_error(RG_ERR_ARG, "%s: walker %lld has a state of %zu bytes, its kind one of %zu",
                     call, (long long)w->id, w->bytes, b->kind.bytes);
  if (w->least > b->size || (w->most > 0 && w->least > w->most) || w->most < 0 || w->least < 0)
    return rgi_error(RG_ERR_ARG, "%s: walker %lld needs %lld to %lld processes, of %d", call,
                     (long long)w->id, (long long)w->least, (long long)w->most, b->size);
  if ((b->stage != RGI_NEW || w->ended) && !(b->work.in_unit && rgi_leads(b)))
    return rgi_error(RG_ERR_ARG,
                     "%s: walker %lld: only before the run, or in a unit by rank 0 of "
                     "its group",
                     call, (long long)w->id);
  return RG_SUCCESS;
}

int rg_balance_add(rg_balancer b, const rg_walker_new *w) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  RGI_REQUIRE(w);
  RGI_TRY(check_new(__func__, b, w));
  rgi_entry e = {.id = w->id,
                 .least = w->least,
                 .most = w->most,
                 .left = w->left,
                 .unit = w->unit > 0 ? w->unit : 0,
                 .bytes = w->state ? w->bytes : 0,
                 .ended = w->ended};
  if (w->ended && !b->vault)
    return rgi_outcome_add(
        b, &(rg_outcome){
               .id = w->id, .rank = b->rank, .text = "", .state = w->state, .bytes = e.bytes});
  if (w->state) {
    e.memory = malloc(w->bytes ? w->bytes : 1);
    if (!e.memory)
      return rgi_error(RG_ERR_NOMEM, "%s: no memory for %zu bytes", __func__, w->bytes);
    memcpy(e.memory, w->state, w->bytes);
  }
  int error = rgi_entries_add(b->stage == RGI_NEW ? &b->list : &b->work.born, &e);
  if (error)
    free(e.memory);
  return error;
}

/* --- begin, step, end --------------------------------------------------------------------- */

static uint64_t mix_in(uint64_t hash, uint64_t x) {
  return rgi_context_mix(hash ^ x) + 0x9e3779b97f4a7c15u;
}

static uint64_t of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* What all processes must say alike. */
static uint64_t hash_of(const struct rg_balancer_s *b) {
  const rg_walker_kind *k = &b->kind;
  uint64_t h =
      mix_in(k->bytes, (k->unpack != NULL) + 2 * (k->changed != NULL) + 4 * (k->finished != NULL) +
                           8 * (k->start != NULL) + 16 * (k->leaving != NULL));
  h = mix_in(mix_in(h, (uint64_t)b->options.group), of_double(b->options.limit));
  h = mix_in(mix_in(h, (uint64_t)b->policy.interval), (uint64_t)b->policy.asks);
  for (const char *c = b->policy.name ? b->policy.name : ""; *c; c++)
    h = mix_in(h, (uint64_t)*c);
  for (int i = 0; i < RG_POLICY_OPTIONS; i++)
    h = mix_in(h, of_double(b->policy.option[i]));
  for (int i = 0; i < b->list.count; i++) {
    const rgi_entry *e = &b->list.at[i];
    h = mix_in(mix_in(h, (uint64_t)e->id), of_double(e->left));
    h = mix_in(mix_in(h, (uint64_t)e->least), (uint64_t)e->most);
    h = mix_in(mix_in(h, e->bytes), e->memory != NULL);
  }
  return h;
}

int rgi_balance_agreement(rg_balancer b) {
  uint64_t h = hash_of(b), ends[2] = {h, ~h};
  RGI_TRY(rg_allreduce(b->all, MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MAX));
  if (ends[0] != ~ends[1])
    return rgi_error(RG_ERR_MISMATCH, "rg_balance_begin: processes disagree about the list of "
                                      "walkers, the size of their state, or the options");
  return RG_SUCCESS;
}

/* Processes in a group at first: as asked, but enough for every walker that starts. */
static int first_size(const struct rg_balancer_s *b) {
  int size = b->options.group, walkers = b->list.count;
  if (size == 0)
    size = walkers == 0 || walkers >= b->size ? 1 : (b->size + walkers - 1) / walkers;
  for (int i = 0; i < walkers; i++)
    if (b->list.at[i].least > size)
      size = (int)b->list.at[i].least;
  return size < b->size ? size : b->size;
}

/* Those that wait, the longest first. */
static int sort_waiting(rg_balancer b) {
  int groups = (b->size - 1) / b->group_size + 1;
  rgi_entries sorted = {0};
  int error = RG_SUCCESS;
  for (int i = 0; i < b->list.count && !error; i++)
    error = rgi_entries_add(&sorted, &b->list.at[i]);
  sorted.count = sorted.count < groups ? sorted.count : groups;
  for (int i = groups; i < b->list.count && !error; i++) {
    const rgi_entry *e = &b->list.at[i];
    int at = sorted.count++;
    for (; at > groups && sorted.at[at - 1].left < e->left; at--)
      sorted.at[at] = sorted.at[at - 1];
    sorted.at[at] = *e;
  }
  if (error) {
    free(sorted.at);
    return error;
  }
  free(b->list.at);
  b->list = sorted;
  return RG_SUCCESS;
}

int rgi_balance_prepare(rg_balancer b) {
  b->group_size = first_size(b);
  if (b->rows)
    return sort_waiting(b);
  b->rows = calloc((size_t)b->size, sizeof *b->rows);
  b->row_stamps = calloc((size_t)b->size, sizeof *b->row_stamps);
  b->leader_of = calloc((size_t)b->size, sizeof *b->leader_of);
  if (!b->rows || !b->row_stamps || !b->leader_of)
    return rgi_error(RG_ERR_NOMEM, "rg_balance_begin: no memory for %d processes", b->size);
  return sort_waiting(b);
}

/* After an error of the library's own it cannot go on, only be freed. */
static int broken_if(rg_balancer b, int error) {
  if (error)
    b->stage = RGI_BROKEN;
  return error;
}

/* Where nothing has begun yet it may be begun again. */
static int broken_unless_new(rg_balancer b, int error) {
  return b->stage == RGI_NEW ? error : broken_if(b, error);
}

int rg_balance_begin(rg_balancer b) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  if (b->stage != RGI_NEW)
    return rgi_error(RG_ERR_ARG, "%s: it has begun already", __func__);
  b->counts.ended = rgi_clock_now();
  if (b->survives)
    return broken_unless_new(b, rgi_survive_begin(b));
  RGI_TRY(rgi_balance_agreement(b));
  RGI_TRY(rgi_balance_prepare(b));
  b->stage = RGI_RUNNING;
  return broken_if(b, b->policy.interval > 0 ? rgi_sync_begin(b) : rgi_async_begin(b));
}

int rg_balance_step(rg_balancer b, int wait, int *what) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  RGI_REQUIRE(what);
  if (b->stage == RGI_DONE) {
    *what = RG_BALANCE_DONE;
    return RG_SUCCESS;
  }
  if (b->stage != RGI_RUNNING)
    return rgi_error(RG_ERR_ARG, "%s: it does not run: call rg_balance_begin first", __func__);
  int error = RG_SUCCESS;
  if (!rgi_survive_look(b))
    error = b->policy.interval > 0 ? rgi_sync_step(b, wait, what) : rgi_async_step(b, wait, what);
  if (!rgi_survive_trouble(b))
    return broken_if(b, error);
  *what = RG_BALANCE_MOVED;
  return broken_if(b, rgi_survive_recover(b));
}

/* Somebody may die when all is done: then what is missing is done again. */
static int end_surviving(rg_balancer b) {
  for (int done = 0, what;;) {
    int error = rgi_survive_end(b, &done);
    if (done || error)
      return error;
    for (what = 0; what != RG_BALANCE_DONE;)
      RGI_TRY(rg_balance_step(b, 1, &what));
  }
}

int rg_balance_end(rg_balancer b) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  if (b->stage != RGI_DONE)
    return rgi_error(RG_ERR_ARG,
                     "%s: the walkers have not ended: call rg_balance_step until it "
                     "says RG_BALANCE_DONE",
                     __func__);
  int error = b->survives ? end_surviving(b) : b->board ? rgi_async_end(b) : RG_SUCCESS;
  if (b->survives ? b->stage != RGI_DONE : error)
    return broken_if(b, error);
  b->stage = RGI_ENDED;
  rgi_crew_free(&b->crew);
  return b->survives ? error : rgi_outcome_report(b);
}

int rg_balance_run(rg_balancer b) {
  int what = 0;
  RGI_TRY(rg_balance_begin(b));
  while (what != RG_BALANCE_DONE)
    RGI_TRY(rg_balance_step(b, 1, &what));
  return rg_balance_end(b);
}

/* --- looking ----------------------------------------------------------------------------- */

void rgi_mark(rg_balancer b, rg_span_kind kind) {
  const rgi_crew *c = &b->crew;
  if (!b->options.timeline)
    return;
  rg_span span = {.kind = kind,
                  .key = kind == RG_SPAN_WORK ? b->work.walker.id : 0,
                  .first = c->lowest,
                  .size = c->n,
                  .group = (int32_t)b->counts.groups,
                  .together = c->together};
  rg_timeline_mark(b->options.timeline, &span);
}

int rg_balance_count(rg_balancer b, rg_balance_counts *counts) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  RGI_REQUIRE(counts);
  *counts = b->counts;
  return RG_SUCCESS;
}

int rg_balance_loads(rg_balancer b, int room, rg_load loads[], int *count) {
  rg_load_table t = {0};
  RGI_TRY(rgi_balancer_check(__func__, b));
  RGI_REQUIRE(count);
  if (room > 0)
    RGI_REQUIRE(loads);
  if (b->locked)
    return rgi_error(RG_ERR_ARG, "%s: a policy has the loads in its table; it may not ask for them",
                     __func__);
  if (b->board) {
    RGI_TRY(rgi_board_lock(b));
    int error = rgi_board_table(b, &t);
    rgi_board_unlock(b);
    RGI_TRY(error);
  }
  *count = b->row_count;
  for (int i = 0; i < b->row_count && i < room; i++)
    loads[i] = b->rows[i];
  return RG_SUCCESS;
}
