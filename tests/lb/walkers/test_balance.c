/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers under every policy: closed-form results, states, limits, timelines.
 * ranks: 1 2 3 4 7 16
 * time: 120 */
#include "balance_run.h"

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
static int making_unit(rg_walker *walker, rg_group g, void *context) {
  const work_context *c = context;
  const work_state *s = walker->state;
  int rank, error = work_unit(walker, g, context);
  rg_walker_new number = {.size = sizeof number,
                          .id = -1 - walker->id,
                          .ended = 1,
                          .state = &s->done,
                          .bytes = sizeof s->done};
  rg_group_rank(g, &rank);
  if (!error && rank == 0)
    RGT_OK(rg_balance_add(c->b, &number));
  return error;
}

/* Those of each walker come one after another: each unit has its bit. Returns how many. */
static int check_numbers(const rg_balance_outcome *outcome, int64_t count) {
  int64_t seen = 0;
  int n = 0;
  for (; n < count && outcome[n].id < 0; n++) {
    RGT_INT(outcome[n].bytes, sizeof seen);
    seen += (int64_t)1 << *(const int64_t *)outcome[n].state;
    if (n + 1 == count || outcome[n + 1].id != outcome[n].id) {
      RGT_INT(seen, ((int64_t)2 << work_units(-1 - outcome[n].id)) - 2);
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

/* A state that is no plain memory. */
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

static int limited_changed(rg_walker *walker, rg_group g, void *context) {
  const work_context *c = context;
  int size;
  (void)c;
  rg_group_size(g, &size);
  RGT_TRUE(size <= 2 || walker->id % 2);
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

/* --- balancers beside each other, and on a timeline ------------------------------------------- */

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
                                   {"parts", test_parts},
                                   {"timeline", test_timeline},
                                   {"end", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "balance", tests);
}
