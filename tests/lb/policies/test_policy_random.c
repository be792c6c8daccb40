/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Every policy on random tables: its plan can be done, says the same twice, and
 * keeps to what it promises; and plans that cannot be done are refused. */
#include <Random123/philox.h>
#include <regroup/policy.h>
#include <string.h>

#include "tests/check/check.h"

enum { ROWS = 12, WALKERS = 4, TRIALS = 3000 };

static const char *const ALL[] = {
    "none",      "join-right", "sync:i=4",           "most-work",
    "share-out", "release",    "share-out:cost=0.5", "release:gain=0.5"};
enum { POLICIES = sizeof ALL / sizeof *ALL };

static uint64_t drawn;

static uint64_t draw(uint64_t below) {
  philox2x64_ctr_t c = {{drawn++, 0}};
  philox2x64_key_t k = {{rgt_seed()}};
  return philox2x64(c, k).v[0] % below;
}

typedef struct {
  rg_load load[ROWS];
  rg_waiting_walker waiting[WALKERS];
  rg_load_table t;
} trial;

static void draw_row(rg_load *l) {
  *l = (rg_load){.ranks = 1 + (int64_t)draw(9),
                 .coming = draw(4) ? 0 : (int64_t)draw(5),
                 .least = draw(3) ? 0 : (int64_t)draw(4),
                 .most = draw(4) ? 0 : 3 + (int64_t)draw(10),
                 .done = (double)draw(50),
                 .unit = draw(4) ? (double)(1 + draw(100)) / 10 : RG_LOAD_UNKNOWN};
  if (draw(3)) {
    l->state = RG_LOAD_ACTIVE | (draw(4) ? RG_LOAD_JOINABLE : 0) | (draw(2) ? RG_LOAD_LEAVABLE : 0);
    l->left = draw(5) ? (double)draw(100) : RG_LOAD_UNKNOWN;
  } else if (draw(2)) {
    l->state = RG_LOAD_JOINABLE;
  }
  for (uint64_t i = draw(8); i > 0; i--)
    rg_pace_note(&l->pace, draw(2) ? l->ranks : 1 + (int64_t)draw(20), (double)(1 + draw(50)) / 10);
}

static void draw_table(trial *x) {
  int rows = 1 + (int)draw(ROWS), walkers = draw(3) ? 0 : (int)draw(WALKERS + 1);
  x->t = (rg_load_table){.size = sizeof(rg_load_table),
                         .load = x->load,
                         .count = rows,
                         .self = draw(2) ? RG_LOAD_ALL_ROWS : (int)draw((uint64_t)rows),
                         .waiting = x->waiting,
                         .waiting_count = walkers,
                         .merge = draw(2) ? 0 : (double)draw(100) / 100};
  for (int i = 0; i < rows; i++)
    draw_row(&x->load[i]);
  for (int i = 0; i < walkers; i++)
    x->waiting[i] = (rg_waiting_walker){.least = (int64_t)draw(6),
                                        .most = draw(2) ? 0 : 6 + (int64_t)draw(3),
                                        .left = 10.0 - i,
                                        .unit = 1};
}

static int is_idle(const trial *x, int row) {
  return !(x->load[row].state & RG_LOAD_ACTIVE);
}

/* What holds of every policy of the library's, beyond what rg_policy_plan checks. */
static void check_plan(const trial *x, const rg_policy *p, const rg_plan *plan) {
  int64_t left[ROWS], now = 0, then = 0;
  int longest = 0;
  for (int i = 0; i < x->t.count; i++) {
    left[i] = x->load[i].ranks;
    now += left[i];
  }
  for (int i = 0; i < plan->count; i++) {
    const rg_move *m = &plan->move[i];
    RGT_TRUE(is_idle(x, m->from) || (p->asks & RG_POLICY_ASKS_ACTIVE));
    if (m->to != RG_MOVE_NO_ROW &&
        (x->t.self == RG_LOAD_ALL_ROWS || strcmp(p->name, "join-right")) &&
        (x->t.self == RG_LOAD_ALL_ROWS || strcmp(p->name, "sync")))
      RGT_TRUE(!is_idle(x, m->to) && x->load[m->to].left != 0);
    if (m->to == RG_MOVE_NO_ROW && is_idle(x, m->from))
      RGT_TRUE(m->walker != RG_MOVE_NO_WALKER);
    if (m->walker != RG_MOVE_NO_WALKER && is_idle(x, m->from)) {
      RGT_TRUE(m->walker >= longest); /* the longest first */
      longest = m->walker;
    }
    left[m->from] -= m->ranks;
    then += m->ranks;
  }
  for (int i = 0; i < x->t.count; i++) {
    RGT_TRUE(left[i] >= 0 && (is_idle(x, i) || left[i] > 0));
    then += left[i];
  }
  RGT_INT(then, now); /* every process is in exactly one group */
}

static int same_plan(const rg_plan *a, const rg_plan *b) {
  int same = a->count == b->count;
  for (int i = 0; i < a->count && same; i++)
    same = a->move[i].from == b->move[i].from && a->move[i].to == b->move[i].to &&
           a->move[i].ranks == b->move[i].ranks && a->move[i].walker == b->move[i].walker;
  return same;
}

static void test_random(void) {
  rg_plan plan = {0}, again = {0};
  int64_t moves = 0;
  for (int i = 0; i < TRIALS; i++) {
    trial x;
    draw_table(&x);
    for (int k = 0; k < POLICIES; k++) {
      rg_policy p = {.size = sizeof p};
      RGT_OK(rg_policy_parse(ALL[k], &p));
      RGT_OK(rg_policy_plan(&p, &x.t, &plan));
      check_plan(&x, &p, &plan);
      RGT_OK(rg_policy_plan(&p, &x.t, &again));
      RGT_TRUE(same_plan(&plan, &again));
      moves += plan.count;
    }
  }
  RGT_TRUE(moves > TRIALS);
  rg_plan_free(&plan);
  rg_plan_free(&again);
}

/* Seconds until the last of the rows ends, with what the plan gives it. */
static double makespan(const trial *x, const rg_plan *plan) {
  double longest = 0;
  for (int row = 0; row < x->t.count; row++) {
    int64_t ranks = x->load[row].ranks;
    for (int i = 0; plan && i < plan->count; i++)
      ranks += plan->move[i].to == row ? plan->move[i].ranks : 0;
    double seconds = is_idle(x, row) ? 0 : x->load[row].left / (double)ranks;
    longest = seconds > longest ? seconds : longest;
  }
  return longest;
}

/* Share-out is the best that any plan can do: no time to go is less than what the
 * same processes need when each may be given to any row (tried by bisection). */
static int can_end_by(const trial *x, double seconds, int64_t idle) {
  for (int row = 0; row < x->t.count; row++)
    if (!is_idle(x, row))
      for (int64_t ranks = x->load[row].ranks; x->load[row].left / (double)ranks > seconds; ranks++)
        if (idle-- == 0)
          return 0;
  return 1;
}

static void test_optimal(void) {
  rg_plan plan = {0};
  rg_policy p = {.size = sizeof p};
  RGT_OK(rg_policy_parse("share-out", &p));
  for (int i = 0; i < TRIALS; i++) {
    trial x = {.t = {.size = sizeof x.t, .load = x.load, .count = ROWS, .self = RG_LOAD_ALL_ROWS}};
    int64_t idle = 0;
    for (int row = 0; row < ROWS; row++) {
      x.load[row] = (rg_load){.ranks = 1 + (int64_t)draw(6), .unit = RG_LOAD_UNKNOWN};
      x.load[row].left = draw(3) ? (double)(1 + draw(200)) : 0;
      x.load[row].state = x.load[row].left > 0 ? RG_LOAD_ACTIVE | RG_LOAD_JOINABLE : 0;
      idle += is_idle(&x, row) ? x.load[row].ranks : 0;
    }
    RGT_OK(rg_policy_plan(&p, &x.t, &plan));
    double seconds = makespan(&x, &plan);
    RGT_TRUE(seconds <= makespan(&x, NULL));
    RGT_TRUE(seconds == 0 || !can_end_by(&x, seconds * (1 - 1e-9), idle));
  }
  rg_plan_free(&plan);
}

/* Most-work against the plainest way to say it. */
static int plain_longest(const trial *x, const int64_t coming[], int64_t more) {
  int best = RG_MOVE_NO_ROW;
  double most = 0;
  for (int row = 0; row < x->t.count; row++) {
    const rg_load *l = &x->load[row];
    double ranks = (double)(l->ranks + coming[row]), seconds = l->left / ranks;
    if (!is_idle(x, row) && (!l->most || (int64_t)ranks + more <= l->most) && seconds > most &&
        l->left / (ranks + (double)more) + x->t.merge < seconds) {
      most = seconds;
      best = row;
    }
  }
  return best;
}

static void test_most_work(void) {
  rg_plan plan = {0};
  rg_policy p = {.size = sizeof p};
  RGT_OK(rg_policy_parse("most-work", &p));
  for (int i = 0; i < TRIALS; i++) {
    trial x = {.t = {.size = sizeof x.t, .load = x.load, .count = ROWS, .self = RG_LOAD_ALL_ROWS}};
    int64_t coming[ROWS] = {0};
    int move = 0;
    x.t.merge = (double)draw(4) * 4;
    for (int row = 0; row < ROWS; row++) {
      x.load[row] = (rg_load){.ranks = 1 + (int64_t)draw(6), .unit = RG_LOAD_UNKNOWN};
      x.load[row].most = draw(3) ? 0 : (int64_t)draw(12);
      x.load[row].left = draw(2) ? (double)(1 + draw(200)) : 0;
      x.load[row].state = x.load[row].left > 0 ? RG_LOAD_ACTIVE | RG_LOAD_JOINABLE : 0;
    }
    RGT_OK(rg_policy_plan(&p, &x.t, &plan));
    for (int row = 0; row < ROWS; row++) {
      int to = is_idle(&x, row) ? plain_longest(&x, coming, x.load[row].ranks) : RG_MOVE_NO_ROW;
      if (to == RG_MOVE_NO_ROW)
        continue;
      coming[to] += x.load[row].ranks;
      if (RGT_TRUE(move < plan.count)) {
        RGT_INT(plan.move[move].from, row);
        RGT_INT(plan.move[move].to, to);
        RGT_INT(plan.move[move].ranks, x.load[row].ranks);
      }
      move++;
    }
    RGT_INT(plan.count, move);
  }
  rg_plan_free(&plan);
}

/* --- a policy of the application's own, right and wrong -------------------------- */

static int give_moves(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  const rg_move *m = policy->context;
  (void)table;
  for (; m->ranks != 99; m++)
    if (rg_plan_add(plan, m))
      return RG_ERR_NOMEM;
  return RG_SUCCESS;
}

static int fail(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  (void)policy;
  (void)table;
  return rg_plan_add(plan, &(rg_move){0}) ? RG_ERR_NOMEM : rg_error_set(RG_ERR_USER + 3, "no plan");
}

static void test_own(void) {
  enum { A = RG_LOAD_ACTIVE, J = RG_LOAD_JOINABLE, L = RG_LOAD_LEAVABLE };
  static const rg_load rows[] = {{.ranks = 4},
                                 {.ranks = 4, .state = A | J, .left = 9},
                                 {.ranks = 4, .state = A, .left = 9},
                                 {.ranks = 4, .state = A | J | L, .left = 9, .least = 2},
                                 {.ranks = 4, .state = J},
                                 {.ranks = 4, .state = A | J, .left = 9, .most = 5}};
  static const rg_waiting_walker w[] = {{.least = 3, .most = 3, .left = 2}};
  static const rg_move END = {0, 0, 99, 0, {0}};
  const struct {
    int good, self;
    rg_move move[4];
  } cases[] = {
      {1, RG_LOAD_ALL_ROWS, {{0, 1, 2, -1, {0}}, {0, 3, 1, -1, {0}}, END}},
      {1, 0, {{0, -1, 3, 0, {0}}, {0, 1, 1, -1, {0}}, END}},
      {1, RG_LOAD_ALL_ROWS, {{3, 1, 2, -1, {0}}, {0, 4, 4, -1, {0}}, END}},
      {0, RG_LOAD_ALL_ROWS, {{0, 1, 2, -1, {0}}, {0, 3, 3, -1, {0}}, END}}, /* more than it has */
      {0, 0, {{4, 1, 1, -1, {0}}, END}},                                    /* another row's */
      {0, 0, {{0, 2, 1, -1, {0}}, END}},                                    /* not joinable */
      {0, RG_LOAD_ALL_ROWS, {{1, 3, 1, -1, {0}}, END}},                     /* not leavable */
      {0, RG_LOAD_ALL_ROWS, {{3, 1, 3, -1, {0}}, END}}, /* fewer than it needs */
      {0, RG_LOAD_ALL_ROWS, {{0, 3, 1, -1, {0}}, {3, 1, 1, -1, {0}}, END}}, /* gives and gets */
      {0, RG_LOAD_ALL_ROWS, {{0, 1, 0, -1, {0}}, END}},                     /* none */
      {0, RG_LOAD_ALL_ROWS, {{0, 6, 1, -1, {0}}, END}},                     /* no such row */
      {0, RG_LOAD_ALL_ROWS, {{6, 1, 1, -1, {0}}, END}},
      {0, RG_LOAD_ALL_ROWS, {{0, -1, 2, 0, {0}}, END}}, /* too few for the walker */
      {0, RG_LOAD_ALL_ROWS, {{0, -1, 4, 0, {0}}, END}}, /* too many for the walker */
      {0, 0, {{0, 5, 2, -1, {0}}, END}},                /* too many for the row */
      {1, 0, {{0, 5, 1, -1, {0}}, END}},
      {0, RG_LOAD_ALL_ROWS, {{0, -1, 3, 1, {0}}, END}}, /* no such walker */
      {0, RG_LOAD_ALL_ROWS, {{0, 1, 3, 0, {0}}, END}},  /* a walker where it joins */
      {0, RG_LOAD_ALL_ROWS, {{0, -1, 3, 0, {0}}, {4, -1, 3, 0, {0}}, END}}};
  rg_plan plan = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rg_policy own = {
        .size = sizeof own, .name = "own", .plan = give_moves, .context = cases[i].move};
    rg_load_table t = {.size = sizeof t,
                       .load = rows,
                       .count = 6,
                       .self = cases[i].self,
                       .waiting = w,
                       .waiting_count = 1};
    if (cases[i].good)
      RGT_OK(rg_policy_plan(&own, &t, &plan));
    else
      RGT_FAILS(rg_policy_plan(&own, &t, &plan), RG_ERR_ARG);
    RGT_INT(plan.count > 0, cases[i].good);
  }
  rg_plan_free(&plan);
  RGT_OK(rg_plan_free(&plan));
  RGT_FAILS(rg_plan_free(NULL), RG_ERR_ARG);
  RGT_FAILS(rg_plan_add(&plan, NULL), RG_ERR_ARG);
}

static void test_unsound(void) {
  rg_load rows[] = {{.ranks = 4}, {.ranks = 0}};
  rg_policy p = {.size = sizeof p, .name = "own", .plan = fail};
  rg_plan plan = {0};
  rg_load_table t = {.size = sizeof t, .load = rows, .count = 1, .self = 0};
  RGT_FAILS(rg_policy_plan(NULL, &t, &plan), RG_ERR_ARG);
  RGT_FAILS(rg_policy_plan(&p, NULL, &plan), RG_ERR_ARG);
  RGT_FAILS(rg_policy_plan(&p, &t, NULL), RG_ERR_ARG);
  RGT_INT(rg_policy_plan(&p, &t, &plan), RG_ERR_USER + 3);
  RGT_STR(rg_error_detail(), "no plan");
  RGT_INT(plan.count, 0);
  p.plan = NULL;
  RGT_FAILS(rg_policy_plan(&p, &t, &plan), RG_ERR_ARG);
  RGT_OK(rg_policy_parse("none", &p));
  t.self = 1;
  RGT_FAILS(rg_policy_plan(&p, &t, &plan), RG_ERR_ARG);
  t.self = -2;
  RGT_FAILS(rg_policy_plan(&p, &t, &plan), RG_ERR_ARG);
  t = (rg_load_table){.size = sizeof(rg_load_table), .load = rows, .count = 2, .self = 0};
  RGT_FAILS(rg_policy_plan(&p, &t, &plan), RG_ERR_ARG);
  t = (rg_load_table){.size = sizeof(rg_load_table), .count = 1};
  RGT_FAILS(rg_policy_plan(&p, &t, &plan), RG_ERR_ARG);
  t = (rg_load_table){.size = sizeof(rg_load_table), .load = rows, .count = 1, .waiting_count = 1};
  RGT_FAILS(rg_policy_plan(&p, &t, &plan), RG_ERR_ARG);
  rg_plan_free(&plan);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"random tables", test_random},         {"share-out is the best", test_optimal},
      {"most-work is plain", test_most_work}, {"own policy", test_own},
      {"unsound tables", test_unsound},       {NULL, NULL}};
  return rgt_main(argc, argv, "policy_random", tests);
}
