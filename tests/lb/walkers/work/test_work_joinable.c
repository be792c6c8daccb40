/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Whether processes may join a walker's group: not where the walker is to be set aside before a
 * merge has paid, if it meets others after as many units as the last time. */
#include <regroup/error.h>

#include "tests/check/check.h"
#include "walkers/board/board.h"
#include "walkers/team/team.h"
#include "walkers/work/work.h"

static rgi_board_shared shared;
static rgi_board board = {.shared = &shared};
static rgi_team team = {.n = 1};

/* A walker in its 21st unit, which met others after 20 units, and ten units before that. */
static rgi_work work_of(double unit) {
  rgi_work w = {.team = &team, .board = &board, .working = 1, .may = RG_LOAD_JOINABLE, .left = 80};
  w.walker.done = 20;
  w.entry.done = 20;
  w.entry.between = 10;
  w.unit = RG_LOAD_UNKNOWN;
  w.entry.unit = unit;
  return w;
}

static void test_soon(void) {
  rgi_work w = work_of(1e-3);
  shared.merge = 2e-3;
  RGT_TRUE(rgi_work_joinable(&w)); /* 10 ms for merges of 2 ms */
  w.walker.done = 22;
  RGT_TRUE(rgi_work_joinable(&w)); /* 8 ms */
  w.walker.done = 23;
  RGT_TRUE(!rgi_work_joinable(&w));
  w.unit = 2e-3; /* as measured since */
  RGT_TRUE(rgi_work_joinable(&w));
  w.walker.done = 27;
  RGT_TRUE(!rgi_work_joinable(&w));
  w.walker.done = 30; /* it did not meet others then */
  RGT_TRUE(rgi_work_joinable(&w));
}

/* Nothing is known of merges, of meetings or of units. */
static void test_unknown(void) {
  rgi_work w = work_of(1e-6);
  shared.merge = 0;
  RGT_TRUE(rgi_work_joinable(&w));
  shared.merge = 1;
  RGT_TRUE(!rgi_work_joinable(&w));
  w.entry.between = 0;
  RGT_TRUE(rgi_work_joinable(&w));
  w = work_of(0);
  RGT_TRUE(rgi_work_joinable(&w));
  w = work_of(1e-6);
  board.shared = NULL;
  RGT_TRUE(rgi_work_joinable(&w));
  board.shared = &shared;
}

static void test_others(void) {
  rgi_work w = work_of(1);
  shared.merge = 1e-3;
  w.left = 1;
  RGT_TRUE(!rgi_work_joinable(&w));
  w.left = RG_LOAD_UNKNOWN;
  RGT_TRUE(rgi_work_joinable(&w));
  w.may = RG_LOAD_LEAVABLE;
  RGT_TRUE(!rgi_work_joinable(&w));
  w = work_of(1);
  w.working = 0;
  RGT_TRUE(!rgi_work_joinable(&w));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"meets soon", test_soon}, {"unknown", test_unknown}, {"others", test_others}, {NULL, NULL}};
  return rgt_main(argc, argv, "work-joinable", tests);
}
