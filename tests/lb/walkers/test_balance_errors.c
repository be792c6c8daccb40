/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Policies of the application's own, and what goes wrong: in policies, walkers, callbacks,
 * arguments. ranks: 1 2 3 4 7 16 time: 120 */
#include <math.h>

#include "balance_run.h"

/* --- a policy of the application's own ------------------------------------------------------- */

/* An idle group joins the leftmost group that takes processes. */
static int leftmost(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  int *calls = (int *)(uintptr_t)policy->context;
  int target = 0, wanted = RG_LOAD_ACTIVE | RG_LOAD_JOINABLE;
  ++*calls;
  while (target < table->count && (table->load[target].state & wanted) != wanted)
    target++;
  for (int row = 0; row < table->count && target < table->count; row++)
    if (!(table->load[row].state & RG_LOAD_ACTIVE) &&
        (table->self == RG_LOAD_ALL_ROWS || table->self == row)) {
      int error = rg_plan_add(
          plan, &(rg_move){row, target, table->load[row].ranks, RG_MOVE_NO_WALKER, {0}});
      if (error)
        return error;
    }
  return RG_SUCCESS;
}

/* A balancer on world, with walkers of work_units(its number) units each. */
static rg_balancer balancer_with(const rg_policy *policy, work_context *context, int walkers) {
  rg_balance_options o = {.size = sizeof o, .policy = policy, .group = 1};
  rg_walker_kind kind = work_kind(context);
  rg_balancer b = NULL;
  RGT_OK(rg_balance_create(world, &kind, &o, &b));
  for (int w = 0; w < walkers; w++) {
    rg_walker_new new = {.size = sizeof new, .id = w, .left = (double)work_units(w)};
    RGT_OK(rg_balance_add(b, &new));
  }
  return b;
}

static rg_policy leftmost_policy(int interval, int *calls) {
  return (rg_policy){.size = sizeof(rg_policy),
                     .name = "leftmost",
                     .interval = interval,
                     .plan = leftmost,
                     .context = calls};
}

static void test_own_policy(void) {
  for (int interval = 0; interval < 3; interval++) {
    int calls = 0;
    work_context c = {0};
    rg_policy policy = leftmost_policy(interval, &calls);
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

static int wrong(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  wrong_context *w = (wrong_context *)(uintptr_t)policy->context;
  int64_t row = table->self == RG_LOAD_ALL_ROWS ? 0 : table->self;
  if (w->calls++ == 0 || (policy->interval == 0 && rgt_rank != rgt_size - 1))
    return RG_SUCCESS;
  if (w->how == 0)
    return RG_ERR_ARG;
  if (w->how == 1) {
    plan->count = 1 << 20;
    return RG_SUCCESS;
  }
  return rg_plan_add(plan, &(rg_move){row, table->count, 1, RG_MOVE_NO_WALKER, {0}});
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
    rg_policy policy = leftmost_policy(interval, &calls);
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

/* --- walkers that go wrong ---------------------------------------------------------------- */

static void check_failed(rg_balancer balancer, int walkers, int failed, int error,
                         const char *text) {
  int64_t count;
  const rg_balance_outcome *o;
  RGT_TRUE(strstr(rg_error_detail(), text) != NULL);
  RGT_OK(rg_balance_gather(balancer, 0));
  RGT_OK(rg_balance_outcomes(balancer, &count, &o));
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
static int count_failed(rg_balancer balancer) {
  int64_t count;
  int failed = 0;
  const rg_balance_outcome *o;
  RGT_OK(rg_balance_outcomes(balancer, &count, &o));
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
static int curious(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  curiosity *c = (curiosity *)(uintptr_t)policy->context;
  rg_load rows[1];
  int64_t count;
  RGT_FAILS(rg_balance_loads(c->b, 1, rows, &count), RG_ERR_ARG);
  c->asked++;
  (void)table;
  (void)plan;
  return RG_SUCCESS;
}

/* So long that it is measured by itself. */
static int slow_unit(rg_walker *walker, rg_group g, void *context) {
  nanosleep(&(struct timespec){0, 3000000}, NULL);
  return work_unit(walker, g, context);
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

static int short_unpack(rg_walker *walker, const void *memory, size_t bytes, void *context) {
  if (walker->id == 4)
    return RG_ERR_MISMATCH;
  return list_unpack(walker, memory, bytes, context);
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

static int silly_unit(rg_walker *walker, rg_group g, void *context) {
  (void)walker;
  (void)g;
  (void)context;
  return -12345;
}

static double silly_left(const rg_walker *walker, void *context) {
  (void)context;
  return walker->id ? -7 : 3;
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

static int own_unit(rg_walker *walker, rg_group g, void *with_text) {
  int rank;
  rg_group_rank(g, &rank);
  (void)walker;
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

static int calm_unit(rg_walker *walker, rg_group g, void *context) {
  (void)walker, (void)context;
  return rg_barrier(g);
}

/* After the second unit there is an error, with a code and a text if asked for. */
static double failing_left(const rg_walker *walker, void *with_code) {
  if (walker->done < 2)
    return 5;
  if (with_code)
    rg_error_set(78, "no estimate after unit %d", (int)walker->done);
  return NAN;
}

/* An error in `left`, on which all members must agree also where their errors are alike. */
static void test_left_fails(void) {
  for (int way = 0; way < 4; way++) {
    int with_code = way % 2;
    rg_walker_kind kind = {.size = sizeof kind,
                           .unit = calm_unit,
                           .left = failing_left,
                           .alike = way / 2,
                           .context = with_code ? &with_code : NULL};
    rg_balancer b;
    rg_walker_new new = {.size = sizeof new, .id = 0, .left = 5};
    RGT_OK(rg_balance_create(world, &kind, NULL, &b));
    RGT_OK(rg_balance_add(b, &new));
    RGT_INT(rg_balance_run(b), with_code ? 78 : RG_ERR_ARG);
    RGT_TRUE(strstr(rg_error_detail(), with_code ? "no estimate after unit 2"
                                                 : "left of walker 0 returned nan") != NULL);
    RGT_OK(rg_balance_free(&b));
  }
}

/* --- the interface ---------------------------------------------------------------------------- */

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

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"begin", test_begin},
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
                                   {"left fails", test_left_fails},
                                   {"mismatch", test_mismatch},
                                   {"arguments", test_arguments},
                                   {"end", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "balance-errors", tests);
}
