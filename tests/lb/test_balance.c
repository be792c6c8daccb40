/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers under every policy: closed-form results, states, errors, the interface.
 * ranks: 1 2 3 4 7 16
 * time: 120 */
#include <stdio.h>
#include <stdlib.h>

#include "balance_work.h"
#include "balance_world.h"

static const char *const policies[] = {
    "none",      "join-right",       "sync:i=1",      "sync:i=3",           "most-work",
    "share-out", "release:gain=0.5", "share-out:i=2", "release:i=1,gain=1", "share-out:cost=0"};
enum { POLICIES = sizeof policies / sizeof *policies };

typedef struct {
  const char *policy;
  int group, walkers;
} shape;

static rg_balancer made(const shape *s, work_context *c, rg_balance_options o) {
  rg_walker_kind kind = work_kind(c);
  rg_policy policy = {.size = sizeof policy};
  rg_balancer b = NULL;
  RGT_OK(rg_policy_parse(s->policy, &policy));
  o.policy = &policy;
  o.group = s->group;
  RGT_OK(rg_balance_create(world, &kind, &o, &b));
  c->b = b;
  for (int w = 0; w < s->walkers; w++) {
    rg_walker_new new = {.size = sizeof new, .id = w, .left = (double)work_units(w)};
    RGT_OK(rg_balance_add(b, &new));
  }
  return b;
}

/* All outcomes at rank 0, each walker once. */
static void check_all(rg_balancer b, int walkers, int children) {
  int64_t count;
  const rg_balance_outcome *o;
  RGT_OK(rg_balance_gather(b, 0));
  RGT_OK(rg_balance_outcomes(b, &count, &o));
  if (rgt_rank != 0)
    return;
  RGT_INT(count, walkers + children);
  for (int i = 0; i < count; i++)
    work_check(&o[i]);
  for (int i = 0; i < count && i < walkers; i++)
    RGT_INT(o[i].id, i);
  for (int i = walkers + 1; i < count; i++)
    RGT_TRUE(o[i].id > o[i - 1].id);
}

static void run(const shape *s) {
  work_context c = {0};
  rg_balancer b = made(s, &c, (rg_balance_options){.size = sizeof(rg_balance_options)});
  int64_t count;
  int finished;
  const rg_balance_outcome *o;
  RGT_OK(rg_balance_run(b));
  RGT_OK(rg_balance_outcomes(b, &count, &o));
  RGT_INT(count, c.finished);
  MPI_Allreduce(&c.finished, &finished, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(finished, s->walkers);
  check_all(b, s->walkers, 0);
  RGT_OK(rg_balance_free(&b));
}

static void test_policies(void) {
  static const int walkers[] = {0, 1, 3, 9, 40}, groups[] = {0, 1, 2, 4};
  for (int p = 0; p < POLICIES; p++)
    for (int w = 0; w < 5; w++)
      for (int g = 0; g < 4; g++)
        run(&(shape){policies[p], groups[g], walkers[w]});
}

/* Walkers that are made while others run. */
static void test_born(void) {
  for (int p = 0; p < POLICIES; p++) {
    work_context c = {.children = 3};
    shape s = {policies[p], 2, 5};
    rg_balancer b = made(&s, &c, (rg_balance_options){.size = sizeof(rg_balance_options)});
    RGT_OK(rg_balance_run(b));
    /* Walker 0 has no unit. */
    check_all(b, 5, 12);
    RGT_OK(rg_balance_free(&b));
  }
}

/* Each unit hands over its number. */
static int making_unit(rg_walker *w, rg_group g, void *context) {
  const work_context *c = context;
  const work_state *s = w->state;
  int rank, error = work_unit(w, g, context);
  rg_walker_new number = {.size = sizeof number,
                          .id = -1 - w->id,
                          .ended = 1,
                          .state = &s->done,
                          .bytes = sizeof s->done};
  rg_group_rank(g, &rank);
  if (!error && rank == 0)
    RGT_OK(rg_balance_add(c->b, &number));
  return error;
}

/* Those of each walker come one after another: each unit has its bit. Returns how many. */
static int check_numbers(const rg_balance_outcome *o, int64_t count) {
  int64_t seen = 0;
  int n = 0;
  for (; n < count && o[n].id < 0; n++) {
    RGT_INT(o[n].bytes, sizeof seen);
    seen += (int64_t)1 << *(const int64_t *)o[n].state;
    if (n + 1 == count || o[n + 1].id != o[n].id) {
      RGT_INT(seen, ((int64_t)2 << work_units(-1 - o[n].id)) - 2);
      seen = 0;
    }
  }
  return n;
}

static void test_made(void) {
  for (int p = 0; p < POLICIES; p++) {
    work_context c = {0};
    rg_walker_kind kind = work_kind(&c);
    rg_policy policy = {.size = sizeof policy};
    rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 2};
    const rg_balance_outcome *all;
    int64_t count;
    int expected = 0;
    kind.unit = making_unit;
    RGT_OK(rg_policy_parse(policies[p], &policy));
    RGT_OK(rg_balance_create(world, &kind, &o, &c.b));
    for (int w = 0; w < 6; w++) {
      RGT_OK(rg_balance_add(
          c.b,
          &(rg_walker_new){.size = sizeof(rg_walker_new), .id = w, .left = (double)work_units(w)}));
      expected += (int)work_units(w);
    }
    RGT_OK(rg_balance_run(c.b));
    RGT_OK(rg_balance_gather(c.b, 0));
    RGT_OK(rg_balance_outcomes(c.b, &count, &all));
    if (rgt_rank == 0) {
      RGT_INT(count, expected + 6);
      RGT_INT(check_numbers(all, count), expected);
    }
    RGT_OK(rg_balance_free(&c.b));
  }
}

/* A main loop of the application's own, which does other things. */
static void test_poll(void) {
  for (int p = 0; p < POLICIES; p++) {
    work_context c = {0};
    shape s = {policies[p], 1, 6};
    rg_balancer b = made(&s, &c, (rg_balance_options){.size = sizeof(rg_balance_options)});
    int what = 0, own = 0;
    RGT_OK(rg_balance_begin(b));
    while (what != RG_BALANCE_DONE) {
      RGT_OK(rg_balance_step(b, own % 3 == 0, &what));
      RGT_TRUE(what >= RG_BALANCE_WORKED && what <= RG_BALANCE_DONE);
      own++;
    }
    RGT_OK(rg_balance_step(b, 0, &what));
    RGT_INT(what, RG_BALANCE_DONE);
    RGT_OK(rg_balance_end(b));
    check_all(b, 6, 0);
    RGT_OK(rg_balance_free(&b));
  }
}

/* --- states that are no plain memory ---------------------------------------------------- */

static int list_start(rg_walker *w, void *context) {
  (void)context;
  work_state *s = malloc(sizeof *s);
  *s = (work_state){.units = work_units(w->id)};
  w->state = s;
  return RG_SUCCESS;
}

static int list_packed(const rg_walker *w, size_t *bytes, void *context) {
  (void)w;
  (void)context;
  *bytes = sizeof(work_state);
  return RG_SUCCESS;
}

static int list_pack(const rg_walker *w, void *memory, size_t bytes, void *context) {
  (void)context;
  memcpy(memory, w->state, bytes);
  return RG_SUCCESS;
}

static int list_unpack(rg_walker *w, const void *memory, size_t bytes, void *context) {
  (void)context;
  if (bytes != sizeof(work_state))
    return RG_ERR_MISMATCH;
  w->state = malloc(bytes);
  memcpy(w->state, memory, bytes);
  return RG_SUCCESS;
}

static void list_drop(rg_walker *w, void *context) {
  work_context *c = context;
  c->dropped++;
  free(w->state);
}

static void test_pack(void) {
  for (int p = 0; p < POLICIES; p++) {
    work_context c = {0};
    rg_walker_kind kind = work_kind(&c);
    rg_policy policy = {.size = sizeof policy};
    rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 1};
    rg_balancer b;
    kind.start = list_start;
    kind.packed = list_packed;
    kind.pack = list_pack;
    kind.unpack = list_unpack;
    kind.drop = list_drop;
    RGT_OK(rg_policy_parse(policies[p], &policy));
    RGT_OK(rg_balance_create(world, &kind, &o, &b));
    for (int w = 0; w < 9; w++) {
      work_state given = {.units = work_units(w)};
      rg_walker_new new = {.size = sizeof new, .id = w, .left = (double)given.units};
      if (w % 2) {
        new.state = &given;
        new.bytes = sizeof given;
      }
      RGT_OK(rg_balance_add(b, &new));
    }
    RGT_OK(rg_balance_run(b));
    check_all(b, 9, 0);
    RGT_OK(rg_balance_free(&b));
  }
}

/* --- limits on the number of processes ------------------------------------------------------ */

typedef struct {
  int least, most;
} limits;

static int limited_changed(rg_walker *w, rg_group g, void *context) {
  const work_context *c = context;
  int size;
  (void)c;
  rg_group_size(g, &size);
  RGT_TRUE(size <= 2 || w->id % 2);
  return RG_SUCCESS;
}

static void test_most(void) {
  static const char *const able[] = {"none", "share-out", "share-out:i=1", "release"};
  for (int p = 0; p < 4; p++) {
    work_context c = {0};
    shape s = {able[p], 1, 0};
    rg_walker_kind kind = work_kind(&c);
    rg_policy policy = {.size = sizeof policy};
    rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 1};
    rg_balancer b;
    kind.changed = limited_changed;
    RGT_OK(rg_policy_parse(s.policy, &policy));
    RGT_OK(rg_balance_create(world, &kind, &o, &b));
    for (int w = 0; w < 7; w++) {
      rg_walker_new new = {
          .size = sizeof new, .id = w, .left = (double)work_units(w), .most = w % 2 ? 0 : 2};
      RGT_OK(rg_balance_add(b, &new));
    }
    RGT_OK(rg_balance_run(b));
    check_all(b, 7, 0);
    RGT_OK(rg_balance_free(&b));
  }
}

/* A walker that waits for more processes than any group will have. */
static void test_least(void) {
  static const char *const ways[] = {"none", "sync:i=2"};
  for (int p = 0; p < 2 && rgt_size > 1; p++) {
    work_context c = {0};
    shape s = {ways[p], 1, rgt_size};
    rg_balancer b = made(&s, &c, (rg_balance_options){.size = sizeof(rg_balance_options)});
    rg_walker_new wide = {.size = sizeof wide, .id = 1000, .left = 3, .least = rgt_size};
    (void)wide;
    RGT_OK(rg_balance_run(b));
    check_all(b, rgt_size, 0);
    RGT_OK(rg_balance_free(&b));
  }
}

/* --- a policy of the application's own ------------------------------------------------------- */

/* An idle group joins the leftmost group that takes processes. */
static int leftmost(const rg_policy *policy, const rg_load_table *t, rg_plan *plan) {
  int *calls = (int *)(uintptr_t)policy->context;
  int target = 0, wanted = RG_LOAD_ACTIVE | RG_LOAD_JOINABLE;
  ++*calls;
  while (target < t->count && (t->load[target].state & wanted) != wanted)
    target++;
  for (int row = 0; row < t->count && target < t->count; row++)
    if (!(t->load[row].state & RG_LOAD_ACTIVE) && (t->self == RG_LOAD_ALL_ROWS || t->self == row)) {
      int error =
          rg_plan_add(plan, &(rg_move){row, target, t->load[row].ranks, RG_MOVE_NO_WALKER, {0}});
      if (error)
        return error;
    }
  return RG_SUCCESS;
}

/* A balancer on world, with walkers of work_units(its number) units each. */
static rg_balancer balancer_with(const rg_policy *policy, work_context *c, int walkers) {
  rg_balance_options o = {.size = sizeof o, .policy = policy, .group = 1};
  rg_walker_kind kind = work_kind(c);
  rg_balancer b = NULL;
  RGT_OK(rg_balance_create(world, &kind, &o, &b));
  for (int w = 0; w < walkers; w++) {
    rg_walker_new new = {.size = sizeof new, .id = w, .left = (double)work_units(w)};
    RGT_OK(rg_balance_add(b, &new));
  }
  return b;
}

static void test_own_policy(void) {
  for (int interval = 0; interval < 3; interval++) {
    int calls = 0;
    work_context c = {0};
    rg_policy policy = {.size = sizeof policy,
                        .name = "leftmost",
                        .interval = interval,
                        .plan = leftmost,
                        .context = &calls};
    rg_balancer b = balancer_with(&policy, &c, rgt_size);
    RGT_OK(rg_balance_run(b));
    MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    RGT_TRUE(calls > 0 || rgt_size == 1);
    check_all(b, rgt_size, 0);
    RGT_OK(rg_balance_free(&b));
  }
}

/* Fails, or gives a plan that cannot be done, after its first call; asynchronously on one
 * process only. */
typedef struct {
  int how, calls;
} wrong_context;

static int wrong(const rg_policy *policy, const rg_load_table *t, rg_plan *plan) {
  wrong_context *w = (wrong_context *)(uintptr_t)policy->context;
  int64_t row = t->self == RG_LOAD_ALL_ROWS ? 0 : t->self;
  if (w->calls++ == 0 || (policy->interval == 0 && rgt_rank != rgt_size - 1))
    return RG_SUCCESS;
  if (w->how == 0)
    return RG_ERR_ARG;
  if (w->how == 1) {
    plan->count = 1 << 20;
    return RG_SUCCESS;
  }
  return rg_plan_add(plan, &(rg_move){row, t->count, 1, RG_MOVE_NO_WALKER, {0}});
}

static void test_wrong_policy(void) {
  for (int i = 0; i < 6; i++) {
    wrong_context w = {.how = i / 2};
    work_context c = {0};
    rg_policy policy = {
        .size = sizeof policy, .name = "wrong", .interval = i % 2, .plan = wrong, .context = &w};
    rg_balancer b = balancer_with(&policy, &c, rgt_size);
    int error = rg_balance_run(b);
    MPI_Allreduce(MPI_IN_PLACE, &w.calls, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    RGT_TRUE(error == RG_ERR_ARG || (error == RG_SUCCESS && (i % 2 == 0 || w.calls < 2)));
    RGT_TRUE(error == RG_SUCCESS || strstr(rg_error_detail(), "policy wrong") != NULL);
    check_all(b, rgt_size, 0);
    RGT_OK(rg_balance_free(&b));
  }
  rg_policy none = {.size = sizeof none, .name = "none of it"};
  rg_balance_options o = {.size = sizeof o, .policy = &none};
  work_context c = {0};
  rg_walker_kind kind = work_kind(&c);
  rg_balancer b = NULL;
  RGT_FAILS(rg_balance_create(world, &kind, &o, &b), RG_ERR_ARG);
  RGT_PTR_NULL(b);
}

/* It starts no walker that waits: these fail, the others are well. */
static void test_starved(void) {
  for (int interval = 0; interval < 2; interval++) {
    int64_t count;
    int calls = 0;
    const rg_balance_outcome *all;
    work_context c = {0};
    rg_policy policy = {.size = sizeof policy,
                        .name = "leftmost",
                        .interval = interval,
                        .plan = leftmost,
                        .context = &calls};
    rg_balancer b = balancer_with(&policy, &c, rgt_size + 2);
    RGT_FAILS(rg_balance_run(b), RG_ERR_ARG);
    RGT_TRUE(strstr(rg_error_detail(), "leftmost") != NULL);
    RGT_OK(rg_balance_gather(b, 0));
    RGT_OK(rg_balance_outcomes(b, &count, &all));
    if (rgt_rank == 0)
      RGT_INT(count, rgt_size + 2);
    for (int i = 0; i < count && rgt_rank == 0; i++)
      if (i < rgt_size)
        work_check(&all[i]);
      else
        RGT_INT(all[i].error, RG_ERR_ARG);
    RGT_OK(rg_balance_free(&b));
  }
}

/* --- walkers that go wrong ---------------------------------------------------------------------
 */

static void check_failed(rg_balancer b, int walkers, int failed, int error, const char *text) {
  int64_t count;
  const rg_balance_outcome *o;
  RGT_TRUE(strstr(rg_error_detail(), text) != NULL);
  RGT_OK(rg_balance_gather(b, 0));
  RGT_OK(rg_balance_outcomes(b, &count, &o));
  for (int i = 0; i < count && rgt_rank == 0; i++)
    if (o[i].id == failed) {
      RGT_INT(o[i].error, error);
      RGT_TRUE(strstr(o[i].text, text) != NULL);
      RGT_PTR_NULL(o[i].state);
    } else if (o[i].error != RG_ERR_TIMEOUT ||
               error != RG_ERR_TIMEOUT) { /* a machine may be slow */
      work_check(&o[i]);
    }
  if (rgt_rank == 0)
    RGT_INT(count, walkers);
}

static void unit_fails(int early) {
  for (int p = 0; p < POLICIES; p++)
    for (int rank = 0; rank < 3; rank++) {
      work_context c = {.fails = 3 + 1, .rank = rank, .early = early};
      shape s = {policies[p], 2, 6};
      rg_balancer b = made(&s, &c, (rg_balance_options){.size = sizeof(rg_balance_options)});
      RGT_FAILS(rg_balance_run(b), RG_ERR_SYSTEM);
      check_failed(b, 6, 3, RG_ERR_SYSTEM, "unit of walker 3");
      RGT_OK(rg_balance_free(&b));
    }
}

/* How many walkers have failed, on all ranks. */
static int count_failed(rg_balancer b) {
  int64_t count;
  int failed = 0;
  const rg_balance_outcome *o;
  RGT_OK(rg_balance_outcomes(b, &count, &o));
  for (int i = 0; i < count; i++)
    failed += o[i].error != RG_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return failed;
}

/* On a busy machine the others may need longer, too: then all get more time. */
static void test_unit_fails(void) {
  unit_fails(0);
}

/* The others wait for the one that has failed: they are told. */
static void test_unit_fails_early(void) {
  unit_fails(1);
}

typedef struct {
  rg_balancer b;
  int asked;
} curiosity;

/* A policy has the loads already. */
static int curious(const rg_policy *policy, const rg_load_table *t, rg_plan *plan) {
  curiosity *c = (curiosity *)(uintptr_t)policy->context;
  rg_load rows[1];
  int64_t count;
  RGT_FAILS(rg_balance_loads(c->b, 1, rows, &count), RG_ERR_ARG);
  c->asked++;
  (void)t;
  (void)plan;
  return RG_SUCCESS;
}

/* So long that it is measured by itself. */
static int slow_unit(rg_walker *w, rg_group g, void *context) {
  nanosleep(&(struct timespec){0, 3000000}, NULL);
  return work_unit(w, g, context);
}

static void test_curious(void) {
  curiosity held = {0};
  work_context c = {0};
  rg_policy policy = {.size = sizeof policy,
                      .name = "curious",
                      .asks = RG_POLICY_ASKS_ACTIVE,
                      .plan = curious,
                      .context = &held};
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 1};
  rg_walker_kind kind = work_kind(&c);
  kind.unit = slow_unit;
  RGT_OK(rg_balance_create(world, &kind, &o, &held.b));
  rg_balancer b = held.b;
  RGT_OK(rg_balance_add(b, &(rg_walker_new){.size = sizeof(rg_walker_new), .id = 1, .left = 7}));
  RGT_OK(rg_balance_run(b));
  MPI_Allreduce(MPI_IN_PLACE, &held.asked, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  RGT_TRUE(held.asked > 0);
  RGT_OK(rg_balance_free(&b));
}

static void test_endless(void) {
  for (int p = 0; p < POLICIES; p++)
    for (double limit = 0.03, failed = 2; failed > 1 && limit < 60; limit *= 8) {
      work_context c = {.endless = 2 + 1};
      shape s = {policies[p], 2, 6};
      char text[64];
      rg_balancer b =
          made(&s, &c, (rg_balance_options){.size = sizeof(rg_balance_options), .limit = limit});
      snprintf(text, sizeof text, "has not ended within %g s", limit);
      RGT_FAILS(rg_balance_run(b), RG_ERR_TIMEOUT);
      failed = count_failed(b);
      if (failed == 1)
        check_failed(b, 6, 2, RG_ERR_TIMEOUT, text);
      RGT_TRUE(failed == 1 || limit < 10);
      RGT_OK(rg_balance_free(&b));
    }
}

static int short_unpack(rg_walker *w, const void *memory, size_t bytes, void *context) {
  if (w->id == 4)
    return RG_ERR_MISMATCH;
  return list_unpack(w, memory, bytes, context);
}

/* A state that cannot be unpacked, or packed. */
static void test_bad_pack(void) {
  work_context c = {0};
  rg_walker_kind kind = work_kind(&c);
  rg_balance_options o = {.size = sizeof o, .group = 1};
  rg_balancer b;
  kind.start = list_start;
  kind.packed = list_packed;
  kind.pack = list_pack;
  kind.unpack = short_unpack;
  kind.drop = list_drop;
  RGT_OK(rg_balance_create(world, &kind, &o, &b));
  for (int w = 0; w < 9; w++) {
    work_state given = {.units = work_units(w)};
    rg_walker_new new = {.size = sizeof new,
                         .id = w,
                         .left = (double)given.units,
                         .state = &given,
                         .bytes = sizeof given};
    RGT_OK(rg_balance_add(b, &new));
  }
  RGT_FAILS(rg_balance_run(b), RG_ERR_MISMATCH);
  check_failed(b, 9, 4, RG_ERR_MISMATCH, "unpack of walker 4");
  RGT_OK(rg_balance_free(&b));
}

static int silly_unit(rg_walker *w, rg_group g, void *context) {
  (void)w;
  (void)g;
  (void)context;
  return -12345;
}

static double silly_left(const rg_walker *w, void *context) {
  (void)context;
  return w->id ? -7 : 3;
}

static void test_silly_callbacks(void) {
  rg_walker_kind kind = {.size = sizeof kind, .unit = silly_unit, .left = silly_left};
  for (int id = 0; id < 2; id++) {
    rg_balancer b;
    rg_walker_new new = {.size = sizeof new, .id = id, .left = 3};
    RGT_OK(rg_balance_create(world, &kind, NULL, &b));
    RGT_OK(rg_balance_add(b, &new));
    RGT_FAILS(rg_balance_run(b), RG_ERR_ARG);
    RGT_TRUE(strstr(rg_error_detail(), id ? "returned -7" : "returned -12345") != NULL);
    RGT_OK(rg_balance_free(&b));
  }
}

static int own_unit(rg_walker *w, rg_group g, void *with_text) {
  int rank;
  rg_group_rank(g, &rank);
  (void)w;
  return rank ? RG_SUCCESS : with_text ? rg_error_set(77, "too cold on rank %d", rank) : 77;
}

/* A code of the application's own comes back on all processes, with its text. */
static void test_own_code(void) {
  for (int with_text = 0; with_text < 2; with_text++) {
    rg_walker_kind kind = {.size = sizeof kind,
                           .unit = own_unit,
                           .left = silly_left,
                           .context = with_text ? &with_text : NULL};
    rg_balancer b;
    rg_walker_new new = {.size = sizeof new, .id = 0, .left = 3};
    RGT_OK(rg_balance_create(world, &kind, NULL, &b));
    RGT_OK(rg_balance_add(b, &new));
    RGT_INT(rg_balance_run(b), 77);
    RGT_TRUE(strstr(rg_error_detail(), with_text ? "too cold on rank 0" : "returned 77") != NULL);
    RGT_OK(rg_balance_free(&b));
  }
}

/* --- the interface ------------------------------------------------------------------------------
 */

static void test_mismatch(void) {
  work_context c = {0};
  rg_walker_kind kind = work_kind(&c);
  rg_balancer b;
  int what;
  if (rgt_size == 1)
    return;
  for (int way = 0; way < 4; way++) {
    int other = rgt_rank == rgt_size - 1;
    rg_balance_options o = {.size = sizeof o, .group = way == 1 && other ? 2 : 1};
    rg_walker_new new = {
        .size = sizeof new, .id = way == 2 && other ? 7 : 1, .left = way == 3 && other ? 2 : 3};
    kind.bytes = sizeof(work_state) + (way == 0 && other ? 8 : 0);
    RGT_OK(rg_balance_create(world, &kind, &o, &b));
    RGT_OK(rg_balance_add(b, &new));
    RGT_FAILS(rg_balance_begin(b), RG_ERR_MISMATCH);
    RGT_FAILS(rg_balance_step(b, 0, &what), RG_ERR_ARG);
    RGT_OK(rg_balance_free(&b));
  }
}

static void test_arguments(void) {
  work_context c = {0};
  rg_walker_kind kind = work_kind(&c), bad = kind;
  rg_balancer b = NULL;
  rg_balance_options o = {.size = sizeof o, .group = -1};
  int64_t count;
  int what;
  work_state state = {0};
  RGT_FAILS(rg_balance_create(world, NULL, NULL, &b), RG_ERR_ARG);
  RGT_FAILS(rg_balance_create(world, &kind, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_balance_create(NULL, &kind, NULL, &b), RG_ERR_GROUP);
  RGT_FAILS(rg_balance_create(world, &kind, &o, &b), RG_ERR_ARG);
  bad.unit = NULL;
  RGT_FAILS(rg_balance_create(world, &bad, NULL, &b), RG_ERR_ARG);
  bad = kind;
  bad.pack = list_pack;
  RGT_FAILS(rg_balance_create(world, &bad, NULL, &b), RG_ERR_ARG);
  RGT_PTR_NULL(b);
  RGT_OK(rg_balance_create(world, &kind, NULL, &b));
  RGT_FAILS(rg_balance_add(b, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_balance_add(b, &(rg_walker_new){.size = sizeof(rg_walker_new), .left = -3}),
            RG_ERR_ARG);
  RGT_FAILS(rg_balance_add(b, &(rg_walker_new){.size = sizeof(rg_walker_new), .ended = 1}),
            RG_ERR_ARG);
  RGT_FAILS(
      rg_balance_add(b, &(rg_walker_new){.size = sizeof(rg_walker_new), .least = rgt_size + 1}),
      RG_ERR_ARG);
  RGT_FAILS(rg_balance_add(
                b, &(rg_walker_new){.size = sizeof(rg_walker_new), .state = &state, .bytes = 3}),
            RG_ERR_ARG);
  RGT_FAILS(rg_balance_step(b, 0, &what), RG_ERR_ARG);
  RGT_FAILS(rg_balance_end(b), RG_ERR_ARG);
  RGT_FAILS(rg_balance_gather(b, 0), RG_ERR_ARG);
  RGT_FAILS(rg_balance_gather(b, rgt_size), RG_ERR_RANK);
  RGT_OK(rg_balance_begin(b));
  RGT_FAILS(rg_balance_begin(b), RG_ERR_ARG);
  RGT_FAILS(rg_balance_free(&b), RG_ERR_ARG);
  RGT_FAILS(rg_balance_add(b, &(rg_walker_new){.size = sizeof(rg_walker_new), .left = 3}),
            RG_ERR_ARG);
  do
    RGT_OK(rg_balance_step(b, 1, &what));
  while (what != RG_BALANCE_DONE);
  RGT_OK(rg_balance_end(b));
  RGT_OK(rg_balance_loads(b, 0, NULL, &count));
  RGT_OK(rg_balance_free(&b));
  RGT_OK(rg_balance_free(&b));
}

/* Two balancers after each other on halves of the world, at the same time. */
static void test_parts(void) {
  rg_group half;
  int size;
  RGT_OK(rg_group_split(world, rgt_rank % 2, 0, &half));
  RGT_OK(rg_group_size(half, &size));
  for (int round = 0; round < 3; round++) {
    work_context c = {0};
    rg_walker_kind kind = work_kind(&c);
    rg_balance_options o = {.size = sizeof o, .group = 1};
    rg_balancer b;
    rg_balance_statistics counts = {.size = sizeof counts};
    RGT_OK(rg_balance_create(half, &kind, &o, &b));
    for (int w = 0; w < 2 * size; w++)
      RGT_OK(rg_balance_add(
          b,
          &(rg_walker_new){.size = sizeof(rg_walker_new), .id = w, .left = (double)work_units(w)}));
    RGT_OK(rg_balance_run(b));
    RGT_OK(rg_balance_get_statistics(b, &counts));
    RGT_TRUE(counts.groups >= 1 && counts.idle >= 0 && counts.forming >= 0);
    RGT_OK(rg_balance_free(&b));
  }
  RGT_OK(rg_group_free(&half));
}

static void test_timeline(void) {
  rg_timeline t;
  int64_t count;
  const rg_span *spans;
  const int64_t *counts;
  for (int p = 0; p < POLICIES; p++) {
    work_context c = {0};
    shape s = {policies[p], 1, 5};
    RGT_OK(rg_timeline_create(&t));
    rg_balancer b =
        made(&s, &c, (rg_balance_options){.size = sizeof(rg_balance_options), .timeline = t});
    RGT_OK(rg_balance_run(b));
    RGT_OK(rg_timeline_gather(t, world, 0, 0));
    RGT_OK(rg_timeline_spans(t, &count, &spans, &counts));
    for (int r = 0; r < rgt_size && rgt_rank == 0; spans += counts[r], r++) {
      RGT_TRUE(counts[r] > 0);
      for (int64_t i = 1; i < counts[r]; i++)
        RGT_TRUE(spans[i].start == spans[i - 1].end && spans[i].group >= spans[i - 1].group);
    }
    RGT_OK(rg_balance_free(&b));
    RGT_OK(rg_timeline_free(&t));
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"begin", test_begin},
                                   {"policies", test_policies},
                                   {"born while running", test_born},
                                   {"made by units", test_made},
                                   {"poll", test_poll},
                                   {"pack", test_pack},
                                   {"most processes", test_most},
                                   {"least processes", test_least},
                                   {"own policy", test_own_policy},
                                   {"wrong policy", test_wrong_policy},
                                   {"starved", test_starved},
                                   {"unit fails", test_unit_fails},
                                   {"unit fails early", test_unit_fails_early},
                                   {"curious policy", test_curious},
                                   {"endless", test_endless},
                                   {"bad pack", test_bad_pack},
                                   {"silly callbacks", test_silly_callbacks},
                                   {"own code", test_own_code},
                                   {"mismatch", test_mismatch},
                                   {"arguments", test_arguments},
                                   {"parts", test_parts},
                                   {"timeline", test_timeline},
                                   {"end", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "balance", tests);
}
