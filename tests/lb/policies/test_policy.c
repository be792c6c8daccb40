/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Policies by themselves: names and options, the pace, and closed-form tables for
 * each of them. */
#include <math.h>
#include <regroup/policy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/check.h"

enum { ROWS = 8 };
static rg_plan plan;

static const int READY = RG_LOAD_ACTIVE | RG_LOAD_JOINABLE;

/* A row with that much to do (0: idle), a unit taking 1 / ranks seconds. */
static rg_load row(int64_t ranks, double left) {
  return (rg_load){
      .ranks = ranks, .state = left > 0 ? READY : 0, .left = left, .unit = 1.0 / (double)ranks};
}

static rg_load_table table(const rg_load rows[], int count, int self) {
  return (rg_load_table){.size = sizeof(rg_load_table), .load = rows, .count = count, .self = self};
}

static rg_policy policy(const char *text) {
  rg_policy p = {.size = sizeof p};
  RGT_OK(rg_policy_parse(text, &p));
  return p;
}

static void ask(const char *text, const rg_load_table *t) {
  rg_policy p = policy(text);
  RGT_OK(rg_policy_plan(&p, t, &plan));
}

static void expect_move(int i, int from, int to, int64_t ranks, int walker) {
  if (!RGT_TRUE(i < plan.count))
    return;
  RGT_INT(plan.move[i].from, from);
  RGT_INT(plan.move[i].to, to);
  RGT_INT(plan.move[i].ranks, ranks);
  RGT_INT(plan.move[i].walker, walker);
}

/* --- names and options ---------------------------------------------------------- */

static void test_names(void) {
  int count = 0;
  RGT_OK(rg_policy_count(&count));
  RGT_TRUE(count >= 6);
  for (int i = 0; i < count; i++) {
    const char *name = "", *summary = "", *options = NULL;
    RGT_OK(rg_policy_describe(i, &name, &summary, &options));
    RGT_TRUE(*summary && options);
    RGT_STR(policy(name).name, name);
    rg_load one = row(4, 0);
    rg_load_table t = table(&one, 1, 0);
    ask(name, &t);
    RGT_INT(plan.count, 0);
  }
  RGT_FAILS(rg_policy_describe(count, NULL, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_policy_describe(-1, NULL, NULL, NULL), RG_ERR_ARG);
  RGT_STR(policy(NULL).name, "share-out");
  RGT_STR(policy("").name, "share-out");
  RGT_STR(policy("default:cost=1").name, "share-out");
}

static void test_options(void) {
  RGT_INT(policy("sync").interval, 16);
  RGT_INT(policy("sync:i=128").interval, 128);
  RGT_INT(policy("most-work").interval, 0);
  RGT_INT(policy("most-work:i=3").interval, 3);
  RGT_DBL(policy("share-out:cost=0.01,i=2").option[0], 0.01, 0);
  RGT_INT(policy("release").asks, RG_POLICY_ASKS_ACTIVE);
  static const char *const wrong[] = {"nothing",
                                      "sync:",
                                      "sync:i",
                                      "sync:i=",
                                      "sync:i=x",
                                      "sync:i=-1",
                                      "sync:i=1.5",
                                      "sync:i=1e12",
                                      "sync:i=4,",
                                      "sync:cost=1",
                                      "share-out:cost=",
                                      "share-out:",
                                      "share-out:cost=-2",
                                      "none:x=1",
                                      "share-out:cost=1x",
                                      "share-out:cost=nan",
                                      "release:gain=2",
                                      " sync",
                                      "default:i=-1",
                                      "syn"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    rg_policy p = {.size = sizeof p, .name = "kept"};
    RGT_FAILS(rg_policy_parse(wrong[i], &p), RG_ERR_ARG);
    RGT_STR(p.name, "kept");
  }
  RGT_FAILS(rg_policy_parse("none", NULL), RG_ERR_ARG);
}

/* --- the pace ----------------------------------------------------------------------- */

static void test_pace(void) {
  rg_pace p = {0};
  RGT_DBL(rg_pace_at(&p, 4), RG_LOAD_UNKNOWN, 0);
  rg_pace_note(&p, 4, 2);
  rg_pace_note(&p, 0, 2);
  rg_pace_note(&p, 3, NAN);
  rg_pace_note(&p, 3, 0);
  RGT_INT(p.count, 1);
  RGT_DBL(rg_pace_at(&p, 8), 1, 1e-12);
  RGT_DBL(rg_pace_at(&p, 1), 8, 1e-12);
  rg_pace_note(&p, 16, 1);
  RGT_DBL(rg_pace_at(&p, 8), sqrt(2), 1e-12);
  /* 2 = a + b / 4, 1 = a + b / 16: a = 2 / 3 */
  RGT_DBL(rg_pace_at(&p, 1 << 30), 2.0 / 3, 1e-6);
  rg_pace_note(&p, 16, 3);
  RGT_DBL(rg_pace_at(&p, 16), 2, 1e-12);
  RGT_DBL(rg_pace_at(&p, 64), 2, 1e-12);
  RGT_DBL(rg_pace_at(&p, 0), RG_LOAD_UNKNOWN, 0);
}

/* Units that differ by chance at nearly the same sizes: a larger group still gains. */
/* Sizes at the end of what a number holds, and paces that the application has spoilt. */
static void test_pace_limits(void) {
  rg_pace p = {0}, wrong = {.count = RG_PACE_SIZES + 1, .ranks = {1, 2, 3, 4, 5, 6}};
  rg_pace_note(&p, INT64_MAX, 1);
  rg_pace_note(&p, INT64_MAX / 2, 2);
  RGT_INT(p.count, 2);
  RGT_TRUE(rg_pace_at(&p, INT64_MAX) > 0);
  rg_pace_note(&wrong, 8, 1);
  RGT_INT(wrong.count, RG_PACE_SIZES + 1);
  RGT_DBL(rg_pace_at(&wrong, 8), RG_LOAD_UNKNOWN, 0);
  wrong.count = -1;
  RGT_DBL(rg_pace_at(&wrong, 8), RG_LOAD_UNKNOWN, 0);
}

/* Tables that are none, or of more processes than a job has. */
static void test_table_limits(void) {
  rg_policy p = {.size = sizeof p};
  rg_load row[2] = {{.ranks = INT64_MAX, .left = 1, .unit = 1}, {.ranks = 1, .unit = 1}};
  rg_load_table t = {.size = sizeof t, .load = row, .count = 2, .self = RG_LOAD_ALL_ROWS};
  rg_plan none = {0};
  RGT_OK(rg_policy_parse("share-out", &p));
  RGT_FAILS(rg_policy_plan(&p, &t, &none), RG_ERR_LIMIT);
  row[0].ranks = 1;
  row[1].coming = INT64_MAX;
  RGT_FAILS(rg_policy_plan(&p, &t, &none), RG_ERR_LIMIT);
  row[1].coming = 0;
  row[1].pace.count = 1000;
  RGT_FAILS(rg_policy_plan(&p, &t, &none), RG_ERR_ARG);
  row[1].pace.count = 0;
  t.count = INT64_MAX;
  RGT_FAILS(rg_policy_plan(&p, &t, &none), RG_ERR_LIMIT);
  RGT_OK(rg_plan_add(&none, &(rg_move){0, 1, 1, RG_MOVE_NO_WALKER, {0}}));
  t.count = 2;
  t.load = NULL;
  RGT_FAILS(rg_plan_check(&none, &t), RG_ERR_ARG);
  RGT_OK(rg_plan_free(&none));
}

static int plan_of(const char *name, const rg_load row[2], const rg_waiting_walker *waiting) {
  rg_policy p = {.size = sizeof p};
  rg_load_table t = {.size = sizeof t, .load = row, .count = 2, .merge = 1e-3};
  rg_plan found = {0};
  t.waiting = waiting;
  t.waiting_count = waiting != NULL;
  RGT_OK(rg_policy_parse(name, &p));
  int error = rg_policy_plan(&p, &t, &found);
  int moves = error ? -error : (int)found.count;
  RGT_OK(rg_plan_free(&found));
  return moves;
}

/* Numbers that say nothing are refused in each member, and zero means "not known". */
static void test_wrong_numbers(void) {
  static const double none[] = {NAN, INFINITY, -INFINITY, -7};
  const rg_load idle = {.ranks = 4, .state = RG_LOAD_JOINABLE};
  const rg_load good = {.ranks = 4, .state = RG_LOAD_ACTIVE | RG_LOAD_JOINABLE, .left = 1000};
  RGT_INT(plan_of("share-out", (rg_load[]){idle, good}, NULL), 1);
  RGT_INT(plan_of("most-work", (rg_load[]){idle, good}, NULL), 1);
  for (int i = 0; i < 4; i++) {
    rg_load row[] = {idle, good};
    row[1].left = none[i];
    RGT_INT(plan_of("share-out", row, NULL), -RG_ERR_ARG);
    row[1] = good;
    row[1].unit = none[i];
    RGT_INT(plan_of("none", row, NULL), -RG_ERR_ARG);
    row[1] = good;
    row[1].done = none[i];
    RGT_INT(plan_of("none", row, NULL), -RG_ERR_ARG);
    row[1] = good;
    row[1].busy = none[i];
    RGT_INT(plan_of("none", row, NULL), -RG_ERR_ARG);
    row[1] = good;
    row[1].pace = (rg_pace){1, {4}, {none[i]}};
    RGT_INT(plan_of("none", row, NULL), -RG_ERR_ARG);
    row[1] = good;
    RGT_INT(plan_of("none", row, &(rg_waiting_walker){.left = none[i]}), -RG_ERR_ARG);
    RGT_INT(plan_of("none", row, &(rg_waiting_walker){.unit = none[i]}), -RG_ERR_ARG);
  }
  RGT_INT(plan_of("none", (rg_load[]){idle, good}, &(rg_waiting_walker){.least = 3, .most = 2}),
          -RG_ERR_ARG);
}

/* Many groups and walkers: none of these tables may take time that grows with the square. */
static void test_many(void) {
  enum { MANY = 40000 };
  rg_load *row = calloc(2 * MANY, sizeof *row);
  rg_waiting_walker *waiting = calloc(MANY, sizeof *waiting);
  rg_policy p = {.size = sizeof p};
  rg_load_table t = {.size = sizeof t, .load = row, .count = 2 * MANY, .self = RG_LOAD_ALL_ROWS};
  rg_plan found = {0};
  for (int i = 0; i < MANY; i++) {
    row[i] = (rg_load){.ranks = 3 + i % 2, .state = RG_LOAD_JOINABLE};
    row[MANY + i] = (rg_load){
        .ranks = 4, .most = 5, .state = RG_LOAD_ACTIVE | RG_LOAD_JOINABLE, .left = 9, .unit = 1};
    waiting[i] = (rg_waiting_walker){.left = 5, .least = 5};
  }
  RGT_OK(rg_policy_parse("most-work", &p));
  RGT_OK(rg_policy_plan(&p, &t, &found));
  RGT_INT(found.count, 0);
  RGT_OK(rg_policy_parse("share-out", &p));
  t.waiting = waiting;
  t.waiting_count = MANY;
  t.count = MANY;
  RGT_OK(rg_policy_plan(&p, &t, &found));
  RGT_INT(found.count, 0);
  row[0].ranks = 10 * MANY;
  t.count = 1;
  RGT_OK(rg_policy_plan(&p, &t, &found));
  RGT_INT(found.count, MANY);
  RGT_OK(rg_plan_free(&found));
  free(row);
  free(waiting);
}

/* Walkers that need or can use more than any job has, and a row of as many as it can have. */
static void test_walker_limits(void) {
  rg_waiting_walker waiting[3] = {{.id = 1, .least = INT64_MAX, .left = 5, .unit = 1},
                                  {.id = 2, .most = INT64_MAX, .left = 3, .unit = 1},
                                  {.id = 3, .least = INT64_MAX - 1, .left = 1, .unit = 1}};
  rg_load rows[2] = {row(INT32_MAX - 4, 0), row(4, 1)};
  for (int idle = 0; idle < 2; idle++) {
    rg_load_table t = table(rows, 2, idle ? 0 : RG_LOAD_ALL_ROWS);
    t.waiting = waiting;
    t.waiting_count = 3;
    ask("share-out", &t);
    expect_move(0, 0, RG_MOVE_NO_ROW, INT32_MAX - 4, 1);
    RGT_INT(plan.count, 1);
  }
  waiting[0].least = 1;
  rg_load_table t = table(rows, 2, 0);
  t.waiting = waiting;
  t.waiting_count = 2;
  ask("share-out", &t);
  RGT_INT(plan.count, 2);
  RGT_INT(plan.move[0].ranks + plan.move[1].ranks, INT32_MAX - 4);
  rg_policy p = policy("share-out");
  waiting[1].most = INT64_MIN;
  RGT_FAILS(rg_policy_plan(&p, &t, &plan), RG_ERR_ARG);
  waiting[1].most = 0;
  waiting[1].least = -1;
  RGT_FAILS(rg_policy_plan(&p, &t, &plan), RG_ERR_ARG);
  t.waiting_count = 0;
  rows[1].most = -1;
  RGT_FAILS(rg_policy_plan(&p, &t, &plan), RG_ERR_ARG);
}

static void test_pace_noise(void) {
  rg_pace p = {0};
  rg_pace_note(&p, 4, 1.0 / 4);
  for (int64_t n = 100; n < 110; n++)
    rg_pace_note(&p, n, (n % 2 ? 1.05 : 0.95) / (double)n);
  RGT_INT(p.count, 2);
  RGT_TRUE(rg_pace_at(&p, 200) < 0.7 * rg_pace_at(&p, 109));
}

/* With more sizes than there is room for, what remains still tells the curve. */
static void test_pace_room(void) {
  rg_pace p = {0};
  for (int64_t n = 4096; n >= 1; n /= 2)
    rg_pace_note(&p, n, 1 / (double)n + 1e-3);
  RGT_INT(p.count, RG_PACE_SIZES);
  for (int i = 1; i < p.count; i++)
    RGT_TRUE(p.ranks[i - 1] < p.ranks[i]);
  RGT_INT(p.ranks[0], 1);
  RGT_INT(p.ranks[p.count - 1], 4096);
  for (int64_t n = 1; n <= 4096; n *= 2)
    RGT_DBL(rg_pace_at(&p, n) / (1 / (double)n + 1e-3), 1, 0.25);
}

/* --- each policy ---------------------------------------------------------------------- */

static void test_none(void) {
  rg_load r[] = {row(4, 0), row(4, 5), row(4, 0)};
  rg_waiting_walker w = {.left = 3, .unit = 1};
  rg_load_table t = table(r, 3, RG_LOAD_ALL_ROWS);
  ask("none", &t);
  RGT_INT(plan.count, 0);
  t.waiting = &w;
  t.waiting_count = 1;
  ask("none", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 0, RG_MOVE_NO_ROW, 4, 0);
}

static void test_join_right(void) {
  rg_load r[] = {row(4, 0), row(4, 5), row(4, 0), row(2, 0), row(4, 3), row(4, 0)};
  rg_load_table t = table(r, 6, 0);
  ask("join-right", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 0, 1, 4, RG_MOVE_NO_WALKER);
  t.self = 2; /* the right neighbour is idle: it says itself whether it may be joined */
  ask("join-right", &t);
  RGT_INT(plan.count, 0);
  r[3].state = RG_LOAD_JOINABLE;
  ask("join-right", &t);
  expect_move(0, 2, 3, 4, RG_MOVE_NO_WALKER);
  t.self = 5;
  ask("join-right", &t);
  RGT_INT(plan.count, 0);
  t.self = 1; /* active */
  ask("join-right", &t);
  RGT_INT(plan.count, 0);
}

static void test_sync(void) {
  rg_load r[] = {row(4, 0), row(4, 5), row(4, 0), row(2, 0), row(4, 3), row(4, 0)};
  rg_load_table t = table(r, 6, RG_LOAD_ALL_ROWS);
  ask("sync", &t);
  RGT_INT(plan.count, 3);
  int64_t gets[6] = {0};
  for (int i = 0; i < plan.count; i++)
    gets[plan.move[i].to] += plan.move[i].ranks;
  RGT_INT(gets[1], 4);
  RGT_INT(gets[4], 6);
  r[4].state = RG_LOAD_ACTIVE; /* not to be joined now, nor are groups beyond it */
  ask("sync", &t);
  RGT_INT(plan.count, 1);
}

static void test_most_work(void) {
  rg_load r[] = {row(4, 20), row(8, 48), row(4, 0), row(1, 5.5), row(4, 0)};
  rg_load_table t = table(r, 5, 2); /* 5, 6 and 5.5 seconds to go */
  ask("most-work", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 2, 1, 4, RG_MOVE_NO_WALKER);
  r[1].coming = 1; /* 5.33 */
  ask("most-work", &t);
  expect_move(0, 2, 3, 4, RG_MOVE_NO_WALKER);
  r[3].most = 1;
  ask("most-work", &t);
  expect_move(0, 2, 1, 4, RG_MOVE_NO_WALKER);
  t.self = RG_LOAD_ALL_ROWS;
  ask("most-work", &t);
  RGT_INT(plan.count, 2);
  expect_move(1, 4, 0, 4, RG_MOVE_NO_WALKER);
  t.merge = 10; /* more than there is to gain */
  ask("most-work", &t);
  RGT_INT(plan.count, 0);
}

/* What 4 processes can do best for 40, 20 and 10 seconds of work on 1, 1, 1. */
static void test_share_out(void) {
  rg_load r[] = {row(1, 10), row(1, 40), row(1, 20), row(4, 0)};
  rg_load_table t = table(r, 4, 3);
  ask("share-out", &t);
  RGT_INT(plan.count, 2);
  expect_move(0, 3, 1, 3, RG_MOVE_NO_WALKER); /* 10 seconds */
  expect_move(1, 3, 2, 1, RG_MOVE_NO_WALKER); /* 10 seconds */
  r[1].most = 2;
  ask("share-out", &t);
  RGT_INT(plan.count, 3);
  expect_move(0, 3, 1, 1, RG_MOVE_NO_WALKER);
  expect_move(1, 3, 2, 2, RG_MOVE_NO_WALKER);
  expect_move(2, 3, 0, 1, RG_MOVE_NO_WALKER);
  r[1].state = RG_LOAD_ACTIVE;
  r[2].state = 0;
  ask("share-out", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 3, 0, 4, RG_MOVE_NO_WALKER);
}

static void test_share_cost(void) {
  rg_load r[] = {row(1, 10), row(1, 40), row(1, 20), row(4, 0)};
  rg_load_table t = table(r, 4, 3);
  ask("share-out:cost=15", &t); /* 20 to 10 is too little for it: all to the longest */
  RGT_INT(plan.count, 1);
  expect_move(0, 3, 1, 4, RG_MOVE_NO_WALKER);
  t.merge = 15;
  ask("share-out", &t);
  RGT_INT(plan.count, 1);
  ask("share-out:cost=0", &t);
  RGT_INT(plan.count, 2);
  ask("share-out:cost=32", &t); /* 40 to 8 gains just that */
  RGT_INT(plan.count, 0);
  r[1].coming = 1; /* it is formed anew in any case */
  ask("share-out:cost=32", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 3, 1, 4, RG_MOVE_NO_WALKER);
}

/* A group that is measured to be no faster with more gets no more. */
static void test_share_pace(void) {
  rg_load r[] = {row(2, 40), row(2, 20), row(4, 0)};
  rg_load_table t = table(r, 3, 2);
  rg_pace_note(&r[0].pace, 1, 0.5);
  rg_pace_note(&r[0].pace, 2, 0.5);
  ask("share-out", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 2, 1, 4, RG_MOVE_NO_WALKER);
}

static void test_share_all(void) {
  rg_load r[] = {row(3, 0), row(2, 10), row(3, 0), row(2, 10)};
  rg_load_table t = table(r, 4, RG_LOAD_ALL_ROWS);
  ask("share-out:i=4", &t);
  RGT_INT(plan.count, 2);
  expect_move(0, 0, 1, 3, RG_MOVE_NO_WALKER);
  expect_move(1, 2, 3, 3, RG_MOVE_NO_WALKER);
}

/* 4 processes take as long as 8: the others go to where they help. */
static void test_release(void) {
  rg_load r[] = {row(8, 40), row(4, 80)};
  rg_load_table t = table(r, 2, 0);
  rg_pace_note(&r[0].pace, 4, 0.1);
  rg_pace_note(&r[0].pace, 8, 0.1);
  r[0].unit = 0.1;
  ask("release", &t);
  RGT_INT(plan.count, 0); /* it may not be left now */
  r[0].state |= RG_LOAD_LEAVABLE;
  ask("release", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 0, 1, 4, RG_MOVE_NO_WALKER);
  ask("share-out", &t);
  RGT_INT(plan.count, 0);
  r[0].least = 5;
  ask("release", &t);
  RGT_INT(plan.count, 0);
  r[0].least = 0;
  r[1].state = RG_LOAD_ACTIVE;
  ask("release", &t);
  RGT_INT(plan.count, 0); /* no group wants them, and they do no harm */
  r[0].unit = 0.2;
  ask("release", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 0, RG_MOVE_NO_ROW, 4, RG_MOVE_NO_WALKER);
  rg_waiting_walker w = {.left = 1, .unit = 1, .least = 2};
  t.waiting = &w;
  t.waiting_count = 1;
  ask("release", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 0, RG_MOVE_NO_ROW, 4, 0);
}

/* 8 processes gain 1.5 % or 3 % over 4: they stay where that is more than `gain`. */
static void test_release_gain(void) {
  for (int part = 15; part <= 30; part += 15) {
    rg_load r[] = {row(8, 40), row(4, 80)};
    rg_load_table t = table(r, 2, 0);
    rg_pace_note(&r[0].pace, 4, 0.1 + 1e-4 * part);
    rg_pace_note(&r[0].pace, 8, 0.1);
    r[0].unit = 0.1;
    r[0].state |= RG_LOAD_LEAVABLE;
    ask("release", &t);
    RGT_INT(plan.count, part == 15);
    ask("release:gain=0.01", &t);
    RGT_INT(plan.count, 0);
    ask("release:gain=0.05", &t);
    RGT_INT(plan.count, 1);
  }
}

/* The longest first; one that needs too many waits on. */
static void test_waiting(void) {
  static const char *const all[] = {"none", "join-right", "most-work", "share-out", "release"};
  rg_load r[] = {row(4, 0), row(4, 50), row(8, 0), row(4, 0)};
  rg_waiting_walker w[] = {{.left = 9, .least = 9}, {.left = 5, .least = 5}, {.left = 3}};
  for (int i = 0; i < 5; i++) {
    rg_load_table t = {
        .size = sizeof t, .load = r, .count = 4, .self = 0, .waiting = w, .waiting_count = 3};
    ask(all[i], &t);
    RGT_INT(plan.count, 1);
    expect_move(0, 0, RG_MOVE_NO_ROW, 4, 2);
    t.self = RG_LOAD_ALL_ROWS;
    ask(all[i], &t);
    expect_move(0, 2, RG_MOVE_NO_ROW, 8, 1);
    expect_move(1, 0, RG_MOVE_NO_ROW, 4, 2);
    RGT_INT(plan.count, i == 0 || i == 1 ? 2 : 3); /* the last row joins, where it may */
  }
}

/* No walker gets more than it can use: the next one gets the others, under every policy. */
static void test_waiting_most(void) {
  static const char *const all[] = {"none", "join-right", "most-work", "share-out", "release"};
  rg_load r[] = {row(6, 0), row(1, 50)};
  rg_waiting_walker w[] = {{.left = 9, .most = 2}, {.left = 5, .most = 3}, {.left = 3, .most = 1}};
  r[1].most = 1;
  for (int i = 0; i < 5; i++) {
    rg_load_table t = table(r, 2, 0);
    t.waiting = w;
    t.waiting_count = 3;
    ask(all[i], &t);
    RGT_INT(plan.count, 3);
    expect_move(0, 0, RG_MOVE_NO_ROW, 2, 0);
    expect_move(1, 0, RG_MOVE_NO_ROW, 3, 1);
    expect_move(2, 0, RG_MOVE_NO_ROW, 1, 2);
    t.waiting_count = 1; /* nor where it is the only one */
    ask(all[i], &t);
    RGT_INT(plan.count, 1);
    expect_move(0, 0, RG_MOVE_NO_ROW, 2, 0);
  }
}

/* An idle row divides among walkers such that they end together, each with what it needs; the next
 * idle row has its part of the walkers. */
static void test_waiting_divided(void) {
  rg_load r[] = {row(8, 0), row(4, 50), row(8, 0)};
  rg_waiting_walker w[] = {{.left = 40}, {.left = 20}, {.left = 10}, {.left = 10, .least = 3}};
  rg_load_table t = table(r, 2, 0);
  t.waiting = w;
  t.waiting_count = 3;
  ask("share-out", &t);
  RGT_INT(plan.count, 3);
  expect_move(0, 0, RG_MOVE_NO_ROW, 5, 0);
  expect_move(1, 0, RG_MOVE_NO_ROW, 2, 1);
  expect_move(2, 0, RG_MOVE_NO_ROW, 1, 2);
  t.count = 3;
  t.waiting_count = 4;
  ask("share-out", &t);
  RGT_INT(plan.count, 2);
  expect_move(0, 0, RG_MOVE_NO_ROW, 5, 0);
  expect_move(1, 0, RG_MOVE_NO_ROW, 3, 1);
  t.self = RG_LOAD_ALL_ROWS;
  ask("share-out", &t);
  RGT_INT(plan.count, 4);
  expect_move(2, 2, RG_MOVE_NO_ROW, 4, 2);
  expect_move(3, 2, RG_MOVE_NO_ROW, 4, 3);
}

/* A row at work spares processes for walkers that wait, as far as its own work ends with the rest:
 * none if idle processes do for them, or if its work is short. */
static void test_waiting_spared(void) {
  rg_load r[] = {row(8, 80), row(1, 10), row(2, 0)};
  rg_waiting_walker w[] = {
      {.left = 20, .unit = 1}, {.left = 20, .unit = 1}, {.left = 20, .unit = 1}};
  rg_load_table t = table(r, 2, 0);
  t.waiting = w;
  t.waiting_count = 3;
  ask("share-out", &t);
  RGT_INT(plan.count, 0); /* it may not be left now */
  r[0].state |= RG_LOAD_LEAVABLE;
  ask("share-out", &t); /* 150 seconds of work on 9: 80 need 4.8 */
  RGT_INT(plan.count, 3);
  expect_move(0, 0, RG_MOVE_NO_ROW, 2, 0);
  expect_move(1, 0, RG_MOVE_NO_ROW, 1, 1);
  expect_move(2, 0, RG_MOVE_NO_ROW, 1, 2);
  r[0].least = 6;
  ask("share-out", &t);
  RGT_INT(plan.count, 2);
  r[0].least = 0;
  t.merge = 2.6; /* its 10 seconds are not four times that */
  ask("share-out", &t);
  RGT_INT(plan.count, 0);
  t.merge = 0;
  t.count = 3;
  t.waiting_count = 2; /* the idle row's */
  ask("share-out", &t);
  RGT_INT(plan.count, 0);
}

/* A walker that needs more processes than an idle row has: the row joins no other, if the walker is
 * the longest. */
static void test_waiting_held(void) {
  rg_load r[] = {row(2, 0), row(2, 10), row(2, 0)};
  rg_waiting_walker w = {.left = 30, .least = 4, .unit = 1};
  rg_load_table t = table(r, 3, 0);
  t.waiting = &w;
  t.waiting_count = 1;
  ask("share-out", &t);
  RGT_INT(plan.count, 0);
  w.left = 10;
  ask("share-out", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 0, 1, 2, RG_MOVE_NO_WALKER);
}

/* A unit that was shorter on fewer processes: the others leave, though no group wants them. */
static void test_share_slower(void) {
  rg_load r = row(8, 40);
  r.state |= RG_LOAD_LEAVABLE;
  rg_load_table t = table(&r, 1, 0);
  rg_pace_note(&r.pace, 4, 0.1);
  r.unit = 0.11;
  ask("share-out", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 0, RG_MOVE_NO_ROW, 4, RG_MOVE_NO_WALKER);
  r.unit = 0.101; /* by chance */
  ask("share-out", &t);
  RGT_INT(plan.count, 0);
}

/* Where computing groups use all processors an idle one joins none; where one is free, one process
 * joins; those that sleep may be joined in any case. */
static void test_share_processors(void) {
  rg_load r[] = {row(1, 40), row(1, 30), row(1, 20), row(5, 0)};
  rg_load_table t = table(r, 4, 3);
  for (int i = 0; i < 3; i++)
    r[i].busy = 0.66;
  t.processors = 2;
  ask("share-out", &t);
  RGT_INT(plan.count, 0);
  r[1].state = r[2].state = 0;
  r[0].busy = 1;
  ask("share-out", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 3, 0, 1, RG_MOVE_NO_WALKER);
  r[0].coming = 1;
  ask("share-out", &t);
  RGT_INT(plan.count, 0);
  r[0].coming = 0;
  r[0].busy = 0.01;
  ask("share-out", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 3, 0, 5, RG_MOVE_NO_WALKER);
  t.processors = 0;
  r[0].busy = 1;
  ask("share-out", &t);
  expect_move(0, 3, 0, 5, RG_MOVE_NO_WALKER);
}

/* A group that has become larger where all processors are in use gives the others back. */
static void test_release_processors(void) {
  rg_load r[] = {row(4, 40), row(1, 30)};
  rg_load_table t = table(r, 2, 0);
  r[0].state |= RG_LOAD_LEAVABLE;
  r[0].busy = r[1].busy = 0.6;
  rg_pace_note(&r[0].pace, 1, 1);
  rg_pace_note(&r[0].pace, 4, 0.25);
  ask("share-out", &t);
  RGT_INT(plan.count, 0);
  t.processors = 2;
  ask("share-out", &t);
  RGT_INT(plan.count, 1);
  expect_move(0, 0, RG_MOVE_NO_ROW, 3, RG_MOVE_NO_WALKER);
}

/* --- nodes --------------------------------------------------------------------------------- */

/* Two idle rows and two that take processes. From left to right both would leave their nodes. */
static void test_nodes_all(void) {
  rg_load rows[] = {row(2, 0), row(2, 50), row(2, 50), row(2, 0), row(1, 0), row(2, 40)};
  static const int nodes[] = {1, 2, 1, 2, 4, 3};
  for (int i = 0; i < 6; i++)
    rows[i].node = nodes[i];
  rg_load_table t = table(rows, 4, RG_LOAD_ALL_ROWS);
  ask("share-out:cost=0", &t);
  RGT_INT(plan.count, 2);
  expect_move(0, 3, 1, 2, RG_MOVE_NO_WALKER);
  expect_move(1, 0, 2, 2, RG_MOVE_NO_WALKER);
  rows[3].node = 4; /* what no row of its node needs goes to another one */
  ask("share-out:cost=0", &t);
  RGT_INT(plan.count, 2);
  expect_move(0, 0, 2, 2, RG_MOVE_NO_WALKER);
  expect_move(1, 3, 1, 2, RG_MOVE_NO_WALKER);
  rows[0].node = rows[3].node = 0; /* not known */
  ask("share-out:cost=0", &t);
  expect_move(0, 0, 1, 2, RG_MOVE_NO_WALKER);
  expect_move(1, 3, 2, 2, RG_MOVE_NO_WALKER);
}

/* Of equal groups that of the own node; another one only if it has more work than crossing makes
 * longer. */
static void test_nodes_one(void) {
  static const char *const names[] = {"share-out:cost=0", "most-work"};
  for (int k = 0; k < 2; k++) {
    rg_load rows[] = {row(2, 50), row(1, 0), row(2, 50)};
    rg_load_table t = table(rows, 3, 1);
    rows[0].node = 1;
    rows[1].node = rows[2].node = 2;
    ask(names[k], &t);
    expect_move(0, 1, 2, 1, RG_MOVE_NO_WALKER);
    rows[0].left = 60;
    ask(names[k], &t);
    expect_move(0, 1, 0, 1, RG_MOVE_NO_WALKER);
    t.cross = 0.25; /* 61 times: more than all that is gained */
    ask(names[k], &t);
    expect_move(0, 1, 2, 1, RG_MOVE_NO_WALKER);
    rows[2].state = 0;
    ask(names[k], &t);
    RGT_INT(plan.count, 0);
    rows[0].node = 0; /* it is on several nodes already */
    ask(names[k], &t);
    expect_move(0, 1, 0, 1, RG_MOVE_NO_WALKER);
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"names", test_names},
                                   {"options", test_options},
                                   {"pace", test_pace},
                                   {"pace limits", test_pace_limits},
                                   {"table limits", test_table_limits},
                                   {"walker limits", test_walker_limits},
                                   {"wrong numbers", test_wrong_numbers},
                                   {"many", test_many},
                                   {"pace noise", test_pace_noise},
                                   {"pace room", test_pace_room},
                                   {"none", test_none},
                                   {"join-right", test_join_right},
                                   {"sync", test_sync},
                                   {"most-work", test_most_work},
                                   {"share-out", test_share_out},
                                   {"share-out cost", test_share_cost},
                                   {"share-out pace", test_share_pace},
                                   {"share-out all", test_share_all},
                                   {"release", test_release},
                                   {"release gain", test_release_gain},
                                   {"waiting", test_waiting},
                                   {"waiting most", test_waiting_most},
                                   {"waiting divided", test_waiting_divided},
                                   {"waiting spared", test_waiting_spared},
                                   {"waiting held", test_waiting_held},
                                   {"share-out slower", test_share_slower},
                                   {"share-out processors", test_share_processors},
                                   {"release processors", test_release_processors},
                                   {"nodes, all rows", test_nodes_all},
                                   {"nodes, one row", test_nodes_one},
                                   {NULL, NULL}};
  int status = rgt_main(argc, argv, "policy", tests);
  rg_plan_free(&plan);
  return status;
}
