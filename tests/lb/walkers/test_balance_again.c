/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A balancer that runs several times: walkers that go on from their outcomes, what is kept and
 * dropped between runs, gathering, errors.
 * ranks: 1 2 3 4 7
 * time: 120 */
#include <stdio.h>
#include <stdlib.h>

#include "balance_work.h"
#include "world.h"

enum { RUNS = 3, MOST = 12 };

static const char *const policies[] = {"none", "join-right", "sync:i=2", "share-out:cost=0",
                                       "release:gain=0.5"};
enum { POLICIES = sizeof policies / sizeof *policies };

/* How many walkers a run has: also none, and more than groups. */
static const int walkers_of[RUNS] = {5, 0, MOST};

/* --- several runs -------------------------------------------------------------------------- */

static rg_balancer made(const char *name, work_context *context, rg_timeline t) {
  rg_walker_kind kind = work_kind(context);
  rg_policy policy = {.size = sizeof policy};
  RGT_OK(rg_policy_parse(name, &policy));
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .timeline = t};
  kind.start = NULL;
  kind.finished = NULL;
  RGT_OK(rg_balance_create(world, &kind, &o, &context->b));
  return context->b;
}

/* A walker with more units from where it is. */
static void add_more(rg_balancer balancer, int64_t id, work_state *s) {
  s->units += work_units(id) + 1;
  RGT_OK(rg_balance_add(balancer, &(rg_walker_new){.size = sizeof(rg_walker_new),
                                                   .id = id,
                                                   .left = (double)(s->units - s->done),
                                                   .state = s,
                                                   .bytes = sizeof *s}));
}

static void check_one(const rg_balance_outcome *outcome, int run) {
  const work_state *s = outcome->state;
  int before = 0; /* runs that the walker was in */
  for (int r = 0; r <= run; r++)
    before += outcome->id < walkers_of[r];
  RGT_INT(outcome->error, RG_SUCCESS);
  RGT_INT(outcome->run, run);
  RGT_INT(outcome->done, work_units(outcome->id) + 1);
  RGT_TRUE(outcome->unit > 0);
  if (!RGT_PTR_NOT_NULL(s))
    return;
  RGT_INT(s->done, before * (work_units(outcome->id) + 1));
  RGT_INT(s->sum, work_sum(outcome->id, s->done));
}

/* All processes have the outcomes of the runs from `first` on; the last states of the walkers. */
static void check_runs(rg_balancer balancer, int first, int run, work_state states[]) {
  int64_t count;
  const rg_balance_outcome *o;
  int at = 0;
  RGT_OK(rg_balance_gather_all(balancer));
  RGT_OK(rg_balance_outcomes(balancer, &count, &o));
  for (int id = 0; id < MOST; id++)
    for (int r = first; r <= run; r++)
      if (id < walkers_of[r] && at < count) {
        RGT_INT(o[at].id, id);
        check_one(&o[at], r);
        states[id] = *(const work_state *)o[at++].state;
      }
  RGT_INT(count, at);
}

static int walkers_until(int first, int run) {
  int n = 0;
  for (int r = first; r <= run; r++)
    n += walkers_of[r];
  return n;
}

static void run_several(const char *policy, int drops) {
  work_context c = {0};
  work_state states[MOST] = {0};
  rg_balancer b = made(policy, &c, NULL);
  rg_balance_statistics s = {.size = sizeof s};
  int64_t units = 0;
  for (int run = 0, first = 0; run < RUNS; run++) {
    for (int id = 0; id < walkers_of[run]; id++)
      add_more(b, id, &states[id]);
    RGT_OK(rg_balance_run(b));
    check_runs(b, first, run, states);
    RGT_OK(rg_balance_get_statistics(b, &s));
    RGT_TRUE(s.units >= units);
    units = s.units;
    if (drops) {
      int64_t count;
      const rg_balance_outcome *o;
      first = run + 1;
      RGT_OK(
          rg_balance_drop(b, run ? RG_BALANCE_OUTCOMES : RG_BALANCE_OUTCOMES | RG_BALANCE_PACES));
      RGT_OK(rg_balance_outcomes(b, &count, &o));
      RGT_INT(count, 0);
      RGT_OK(rg_balance_gather(b, rgt_size - 1));
      RGT_OK(rg_balance_outcomes(b, &count, &o));
      RGT_INT(count, 0);
    }
  }
  RGT_OK(rg_balance_free(&b));
}

static void test_runs(void) {
  for (int p = 0; p < POLICIES; p++)
    for (int drops = 0; drops < 2; drops++)
      run_several(policies[p], drops);
}

/* With the application's own loop, and walkers that units make. */
static void test_steps(void) {
  work_context c = {.children = 2};
  rg_walker_kind kind = work_kind(&c);
  int64_t count;
  const rg_balance_outcome *o;
  int expected = 0;
  RGT_OK(rg_balance_create(world, &kind, NULL, &c.b));
  for (int run = 0; run < 4; run++) {
    for (int w = 0; w < 6; w++) {
      expected += 1 + (work_units(w) > 0 ? 2 : 0);
      RGT_OK(rg_balance_add(
          c.b,
          &(rg_walker_new){.size = sizeof(rg_walker_new), .id = w, .left = (double)work_units(w)}));
    }
    RGT_OK(rg_balance_begin(c.b));
    for (int what = 0; what != RG_BALANCE_DONE;)
      RGT_OK(rg_balance_step(c.b, 1, &what));
    RGT_OK(rg_balance_end(c.b));
    RGT_OK(rg_balance_gather(c.b, run % rgt_size));
    RGT_OK(rg_balance_outcomes(c.b, &count, &o));
    for (int i = 0; i < count && rgt_rank == run % rgt_size; i++)
      work_check(&o[i]);
    if (rgt_rank == run % rgt_size)
      RGT_INT(count, expected);
  }
  RGT_OK(rg_balance_free(&c.b));
}

/* Every process may gather, one after another; each gets each outcome once. */
static void test_gather_again(void) {
  work_context c = {0};
  work_state states[MOST] = {0};
  rg_balancer b = made("share-out", &c, NULL);
  int64_t count;
  const rg_balance_outcome *o;
  for (int id = 0; id < walkers_of[0]; id++)
    add_more(b, id, &states[id]);
  RGT_OK(rg_balance_run(b));
  for (int root = 0; root < rgt_size; root++) {
    RGT_OK(rg_balance_gather(b, root));
    RGT_OK(rg_balance_outcomes(b, &count, &o));
    if (rgt_rank == root)
      RGT_INT(count, walkers_until(0, 0));
  }
  check_runs(b, 0, 0, states);
  check_runs(b, 0, 0, states);
  RGT_OK(rg_balance_free(&b));
}

/* One timeline of both runs. */
static void test_timeline(void) {
  for (int p = 0; p < POLICIES; p++) {
    work_context c = {0};
    work_state states[MOST] = {0};
    rg_timeline t;
    int64_t count, ids = 0;
    const rg_span *spans;
    RGT_OK(rg_timeline_create(&t));
    rg_balancer b = made(policies[p], &c, t);
    for (int run = 0; run < RUNS; run++) {
      for (int id = 0; id < walkers_of[run]; id++)
        add_more(b, id, &states[id]);
      RGT_OK(rg_balance_run(b));
      check_runs(b, 0, run, states);
    }
    RGT_OK(rg_timeline_spans(t, &count, &spans, NULL));
    for (int64_t i = 0; i < count; i++) {
      ids |= spans[i].kind == RG_SPAN_WORK ? (int64_t)1 << spans[i].key : 0;
      if (i > 0)
        RGT_TRUE(spans[i].start == spans[i - 1].end && spans[i].group >= spans[i - 1].group);
    }
    MPI_Allreduce(MPI_IN_PLACE, &ids, 1, MPI_INT64_T, MPI_BOR, MPI_COMM_WORLD);
    RGT_INT(ids, ((int64_t)1 << MOST) - 1);
    RGT_OK(rg_balance_free(&b));
    RGT_OK(rg_timeline_free(&t));
  }
}

/* --- paces --------------------------------------------------------------------------------- */

/* What the leader sees: of walkers that wait, by the policy; of one at work, by its unit. */
typedef struct {
  double waiting[3]; /* seconds of a unit, by ids */
  int known[3];      /* sizes measured before the first unit */
  rg_balancer b;
} seen;

static int watching_plan(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  seen *s = (seen *)(uintptr_t)policy->context;
  rg_policy none = {.size = sizeof none};
  for (int64_t i = 0; i < table->waiting_count; i++)
    s->waiting[table->waiting[i].id] = table->waiting[i].unit;
  int error = rg_policy_parse("none", &none);
  return error ? error : none.plan(&none, table, plan);
}

static int paced_unit(rg_walker *walker, rg_group g, void *context) {
  seen *s = context;
  rg_load row;
  int64_t rows;
  int rank;
  work_state *state = walker->state;
  RGT_OK(rg_group_rank(g, &rank));
  if (rank == 0 && walker->done == 0) {
    RGT_OK(rg_balance_loads(s->b, 1, &row, &rows));
    s->known[walker->id] = row.pace.count;
  }
  state->done++;
  return rg_barrier(g);
}

static double paced_left(const rg_walker *walker, void *context) {
  (void)context;
  return (double)(3 - walker->done);
}

/* One group of all, which takes the walkers one after another: walker 0, 2, 1. */
static void run_paced(seen *s, const double units[3]) {
  *s = (seen){.b = s->b};
  for (int id = 0; id < 3; id++)
    RGT_OK(rg_balance_add(s->b, &(rg_walker_new){.size = sizeof(rg_walker_new),
                                                 .id = id,
                                                 .left = 3 + id,
                                                 .unit = units ? units[id] : 0}));
  RGT_OK(rg_balance_run(s->b));
}

static void read_units(rg_balancer balancer, int run, double units[3]) {
  int64_t count;
  const rg_balance_outcome *o;
  RGT_OK(rg_balance_gather_all(balancer));
  RGT_OK(rg_balance_outcomes(balancer, &count, &o));
  for (int64_t i = 0; i < count; i++)
    if (o[i].run == run)
      units[o[i].id] = o[i].unit;
}

static void test_paces(void) {
  seen s = {0};
  static const double said[3] = {0.5, 0.25, 0.125};
  double units[3];
  rg_policy policy = {
      .size = sizeof policy, .name = "watching", .plan = watching_plan, .context = &s};
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = rgt_size};
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(work_state),
                         .unit = paced_unit,
                         .left = paced_left,
                         .context = &s};
  RGT_OK(rg_balance_create(world, &kind, &o, &s.b));
  for (int run = 0; run < 5; run++) {
    if (run == 3)
      RGT_OK(rg_balance_drop(s.b, RG_BALANCE_PACES));
    run_paced(&s, run == 2 ? said : NULL);
    for (int id = 0; id < 3 && rgt_rank == 0; id++) {
      double waited = run == 2 ? said[id] : run == 1 || run == 4 ? units[id] : RG_LOAD_UNKNOWN;
      if (id > 0)
        RGT_DBL(s.waiting[id], waited, 0);
      RGT_INT(s.known[id], run % 3 != 0);
    }
    read_units(s.b, run, units);
    for (int id = 0; id < 3; id++)
      RGT_TRUE(units[id] > 0);
  }
  RGT_OK(rg_balance_free(&s.b));
}

/* --- errors -------------------------------------------------------------------------------- */

static void add_all(rg_balancer balancer, int walkers) {
  for (int w = 0; w < walkers; w++)
    RGT_OK(rg_balance_add(
        balancer,
        &(rg_walker_new){.size = sizeof(rg_walker_new), .id = w, .left = (double)work_units(w)}));
}

/* A walker that fails, and a policy that is wrong: the next run knows nothing of it. */
static int wrong_once(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  rg_policy none = {.size = sizeof none};
  if (*(const int *)policy->context)
    return rg_error_set(RG_ERR_USER + 2, "not today");
  int error = rg_policy_parse("none", &none);
  return error ? error : none.plan(&none, table, plan);
}

static void test_after_errors(void) {
  int wrong = 1, failed = 0;
  int64_t count;
  const rg_balance_outcome *o;
  work_context c = {.fails = 3 + 1};
  rg_walker_kind kind = work_kind(&c);
  rg_policy policy = {
      .size = sizeof policy, .name = "wrong", .plan = wrong_once, .context = &wrong};
  rg_balance_options options = {.size = sizeof options, .policy = &policy};
  RGT_OK(rg_balance_create(world, &kind, &options, &c.b));
  add_all(c.b, 8);
  RGT_FAILS(rg_balance_run(c.b), RG_ERR_SYSTEM);
  c.fails = 0;
  add_all(c.b, 8);
  RGT_INT(rg_balance_run(c.b), RG_ERR_USER + 2);
  RGT_STR(rg_error_detail(), "not today");
  wrong = 0;
  add_all(c.b, 8);
  RGT_OK(rg_balance_run(c.b));
  RGT_OK(rg_balance_gather_all(c.b));
  RGT_OK(rg_balance_outcomes(c.b, &count, &o));
  RGT_INT(count, 24);
  for (int i = 0; i < count; i++) {
    failed += o[i].error != RG_SUCCESS;
    RGT_INT(o[i].error, o[i].run == 0 && o[i].id == 3 ? RG_ERR_SYSTEM : RG_SUCCESS);
  }
  RGT_INT(failed, 1);
  RGT_OK(rg_balance_free(&c.b));
}

/* Processes that disagree before a later run: an error on all, and the outcomes are still there. */
static void test_disagreement(void) {
  for (int how = 0; how < 2 && rgt_size > 1; how++) {
    work_context c = {0};
    int64_t count;
    const rg_balance_outcome *o;
    rg_walker_kind kind = work_kind(&c);
    RGT_OK(rg_balance_create(world, &kind, NULL, &c.b));
    add_all(c.b, 4);
    RGT_OK(rg_balance_run(c.b));
    if (how == 0)
      add_all(c.b, rgt_rank == rgt_size - 1 ? 2 : 3);
    else if (rgt_rank == rgt_size - 1)
      RGT_OK(rg_balance_drop(c.b, RG_BALANCE_PACES));
    RGT_FAILS(rg_balance_run(c.b), RG_ERR_MISMATCH);
    RGT_TRUE(strstr(rg_error_detail(), "rg_balance_run: ") == rg_error_detail());
    RGT_OK(rg_balance_gather_all(c.b));
    RGT_OK(rg_balance_outcomes(c.b, &count, &o));
    RGT_INT(count, 4);
    for (int i = 0; i < count; i++)
      work_check(&o[i]);
    RGT_OK(rg_balance_free(&c.b));
  }
}

/* Roots that are none, or not the same on all processes; then one that is. */
static void test_roots(void) {
  work_context c = {0};
  rg_walker_kind kind = work_kind(&c);
  int64_t count;
  const rg_balance_outcome *o;
  RGT_OK(rg_balance_create(world, &kind, NULL, &c.b));
  RGT_FAILS(rg_balance_gather_all(c.b), RG_ERR_ARG);
  add_all(c.b, 4);
  RGT_OK(rg_balance_run(c.b));
  RGT_FAILS(rg_balance_gather(c.b, -1), RG_ERR_RANK);
  RGT_FAILS(rg_balance_gather(c.b, rgt_size), RG_ERR_RANK);
  RGT_FAILS(rg_balance_gather(c.b, rgt_rank == rgt_size - 1 ? 99 : 0), RG_ERR_RANK);
  if (rgt_size > 1) {
    RGT_FAILS(rg_balance_gather(c.b, rgt_rank == 1), RG_ERR_MISMATCH);
    RGT_FAILS(rgt_rank ? rg_balance_gather_all(c.b) : rg_balance_gather(c.b, 0), RG_ERR_MISMATCH);
  }
  RGT_OK(rg_balance_gather(c.b, 0));
  RGT_OK(rg_balance_outcomes(c.b, &count, &o));
  if (rgt_rank == 0)
    RGT_INT(count, 4);
  RGT_FAILS(rg_balance_gather_all(NULL), RG_ERR_ARG);
  RGT_OK(rg_balance_free(&c.b));
}

static double dropping_left(const rg_walker *walker, void *context) {
  (void)context;
  return (double)(2 - walker->done);
}

/* One member fails by itself; the others, which wait for it, make errors of their own of that. */
typedef struct {
  int rank, run;
} breaking;

static int breaking_unit(rg_walker *walker, rg_group g, void *context) {
  const breaking *c = context;
  int rank;
  (void)walker;
  RGT_OK(rg_group_rank(g, &rank));
  if (rank == c->rank)
    return rg_error_set(RG_ERR_USER + 20, "run %d: too cold at %d%%", c->run, rank);
  return rg_barrier(g) ? rg_error_set(RG_ERR_USER + 10, "the others are silent") : RG_SUCCESS;
}

static int breaking_callback(const breaking *c, rg_walker *walker) {
  return rg_error_set(RG_ERR_USER + 30, "run %d: walker %d is unwilling", c->run, (int)walker->id);
}

static int breaking_start(rg_walker *walker, void *context) {
  return breaking_callback(context, walker);
}

static int breaking_finished(rg_walker *walker, rg_group g, void *context) {
  const breaking *c = context;
  int rank;
  RGT_OK(rg_group_rank(g, &rank));
  return rank == c->rank ? breaking_callback(c, walker) : RG_SUCCESS;
}

static int fine_unit(rg_walker *walker, rg_group g, void *context) {
  (void)walker;
  (void)context;
  return rg_barrier(g);
}

static void check_breaking(breaking *c, const rg_walker_kind *kind, int code, const char *text) {
  rg_balancer b;
  int64_t count;
  const rg_balance_outcome *o;
  rg_balance_options options = {.size = sizeof options, .group = rgt_size};
  RGT_OK(rg_balance_create(world, kind, &options, &b));
  RGT_OK(rg_balance_add(b, &(rg_walker_new){.size = sizeof(rg_walker_new), .id = 5, .left = 2}));
  RGT_INT(rg_balance_run(b), code);
  RGT_STR(rg_error_detail(), text);
  RGT_OK(rg_balance_gather_all(b));
  RGT_OK(rg_balance_outcomes(b, &count, &o));
  RGT_INT(count, 1);
  RGT_INT(o->error, code);
  RGT_STR(o->text, text);
  RGT_INT(o->rank, kind->start ? 0 : c->rank);
  RGT_OK(rg_balance_free(&b));
}

/* Code and text of the application come back as they are, whichever rank has failed. */
static void test_own_errors(void) {
  breaking c = {0};
  char text[80];
  for (c.rank = 0; c.rank < rgt_size; c.rank++) {
    rg_walker_kind kind = {
        .size = sizeof kind, .unit = breaking_unit, .left = dropping_left, .context = &c};
    snprintf(text, sizeof text, "run 0: too cold at %d%%", c.rank);
    check_breaking(&c, &kind, RG_ERR_USER + 20, text);
    kind.unit = fine_unit;
    kind.finished = breaking_finished;
    check_breaking(&c, &kind, RG_ERR_USER + 30, "run 0: walker 5 is unwilling");
    kind.start = breaking_start;
    check_breaking(&c, &kind, RG_ERR_USER + 30, "run 0: walker 5 is unwilling");
  }
}

static int dropping_unit(rg_walker *walker, rg_group g, void *context) {
  work_context *c = context;
  ((work_state *)walker->state)->done++;
  RGT_FAILS(rg_balance_drop(c->b, RG_BALANCE_PACES), RG_ERR_ARG);
  RGT_FAILS(rg_balance_begin(c->b), RG_ERR_ARG);
  return rg_barrier(g);
}

static void test_misuse(void) {
  work_context c = {0};
  rg_walker_kind kind = work_kind(&c);
  kind.unit = dropping_unit;
  kind.left = dropping_left;
  kind.finished = NULL;
  RGT_OK(rg_balance_create(world, &kind, NULL, &c.b));
  RGT_OK(rg_balance_drop(c.b, RG_BALANCE_OUTCOMES | RG_BALANCE_PACES));
  for (int run = 0; run < 2; run++) {
    add_all(c.b, 2);
    RGT_OK(rg_balance_run(c.b));
    RGT_FAILS(rg_balance_drop(c.b, 0), RG_ERR_ARG);
    RGT_FAILS(rg_balance_drop(c.b, 4), RG_ERR_ARG);
    RGT_FAILS(rg_balance_drop(c.b, -1), RG_ERR_ARG);
    RGT_FAILS(rg_balance_end(c.b), RG_ERR_ARG);
  }
  RGT_FAILS(rg_balance_drop(NULL, 1), RG_ERR_ARG);
  RGT_OK(rg_balance_free(&c.b));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"begin", test_begin},
                                   {"runs", test_runs},
                                   {"steps", test_steps},
                                   {"gather again", test_gather_again},
                                   {"timeline", test_timeline},
                                   {"paces", test_paces},
                                   {"after errors", test_after_errors},
                                   {"disagreement", test_disagreement},
                                   {"roots", test_roots},
                                   {"own errors", test_own_errors},
                                   {"misuse", test_misuse},
                                   {"end", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "balance-again", tests);
}
