/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The parts of regroup-mcmc that need no communication.
 * ranks: 1
 * sources: examples/mcmc/plan.c examples/mcmc/walk.c lb/patterns/pattern.c */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "examples/mcmc/plan.h"
#include "examples/mcmc/walk.h"

static mcmc_plan published(int ranks) {
  return mcmc_plan_make(ranks, 4, 0, 10000, 1000, 100e-6);
}

static void test_bounds(void) {
  static const struct {
    int ranks;
    double baseline, ideal;
  } known[] = {{4, 0, 0}, {8, 1, 0.5}, {16, 3, 1.5}, {32, 7, 3.5}, {64, 7, 3.5}, {8192, 7, 3.5}};
  for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
    mcmc_plan p = published(known[i].ranks);
    RGT_DBL(mcmc_plan_baseline(&p, 0), known[i].baseline, 1e-12);
    RGT_DBL(mcmc_plan_ideal(&p, 0), known[i].ideal, 1e-12);
  }
  /* Spinning on 2 processors takes all the samples' time on 2 processors. */
  mcmc_plan p = published(32);
  RGT_INT(mcmc_plan_total(&p), 1120000);
  RGT_DBL(mcmc_plan_ideal(&p, 2), 56, 1e-9);
  RGT_DBL(mcmc_plan_baseline(&p, 2), 56, 1e-9);
  RGT_DBL(mcmc_plan_baseline(&p, 32), 7, 1e-12);
}

static void test_groups(void) {
  mcmc_plan p = published(7);
  RGT_INT(p.groups, 2);
  RGT_INT(mcmc_plan_size(&p, 0), 4);
  RGT_INT(mcmc_plan_size(&p, 1), 3);
  RGT_INT(mcmc_plan_units(&p, 0), 0);
  RGT_INT(mcmc_plan_units(&p, 1), 40);
  p = published(1);
  RGT_INT(p.groups, 1);
  RGT_INT(mcmc_plan_size(&p, 0), 1);
}

/* Whatever the ranks, a list of walkers is the same. */
static void test_list(void) {
  for (int ranks = 1; ranks < 40; ranks++) {
    mcmc_plan p = mcmc_plan_make(ranks, 4, 19, 25, 10, 1);
    int64_t samples = 0, units = 0;
    for (int w = 0; w < p.walkers; w++) {
      samples += mcmc_plan_samples(&p, w);
      units += mcmc_plan_units(&p, w);
    }
    /* Keys 0, 4, ... 72: twice 0 + 4 + ... + 28, and 0, 4, 8. */
    RGT_INT(samples, (2 * 112 + 12) * 25);
    RGT_INT(samples, mcmc_plan_total(&p));
    RGT_INT(units, (2 * 112 + 12) * 25 / 10);
  }
  mcmc_plan p = mcmc_plan_make(1, 4, 19, 25, 10, 1);
  RGT_INT(mcmc_plan_samples(&p, 18), 8 * 25);
  RGT_INT(mcmc_plan_samples(&p, 19), 0);
}

static void test_last_unit_is_shorter(void) {
  mcmc_plan p = mcmc_plan_make(8, 4, 0, 10, 16, 1);
  RGT_INT(mcmc_plan_samples(&p, 1), 40);
  RGT_INT(mcmc_plan_units(&p, 1), 3);
}

/* However samples are dealt to ranks, their steps add up to the same. */
static void test_steps(void) {
  mcmc_walk_position all = mcmc_walk_steps(7, 28, 0, 1000, 1);
  for (int size = 1; size < 40; size++) {
    mcmc_walk_position sum = {0, 0};
    for (int unit = 0; unit < 10; unit++)
      for (int rank = 0; rank < size; rank++) {
        mcmc_walk_position part = mcmc_walk_steps(7, 28, 100 * unit + rank, 100 * (unit + 1), size);
        sum.x += part.x;
        sum.y += part.y;
      }
    RGT_TRUE(sum.x == all.x && sum.y == all.y);
  }
  mcmc_walk_position none = mcmc_walk_steps(7, 28, 5, 5, 1),
                     other = mcmc_walk_steps(8, 28, 0, 1000, 1);
  RGT_TRUE(none.x == 0 && none.y == 0);
  RGT_TRUE(other.x != all.x && other.y != all.y);
  RGT_TRUE(mcmc_walk_fingerprint(0, all) != mcmc_walk_fingerprint(4, all));
}

/* No step is longer than 1/128 of the square's side, and both ways occur. */
static void test_step_length(void) {
  const uint64_t most = UINT64_C(1) << 57;
  int up = 0;
  for (int s = 0; s < 1000; s++) {
    mcmc_walk_position step = mcmc_walk_steps(1, 4, s, s + 1, 1);
    RGT_TRUE(step.x + most < 2 * most && step.y + most < 2 * most);
    up += step.x < most;
  }
  RGT_TRUE(up > 400 && up < 600);
}

/* Patterns scaled to a bound: exact totals, and bounds that nothing can beat. */
static void test_patterns(void) {
  static const char *const names[] = {"published", "ascending",    "descending", "random:3",
                                      "huge",      "heavy-tail:2", "queue"};
  for (int i = 0; i < 7; i++) {
    mcmc_plan p = published(32);
    RGT_INT(mcmc_plan_use(&p, names[i], 3.5), 0);
    RGT_INT(mcmc_plan_total(&p), 1120000);
    RGT_DBL(mcmc_plan_ideal(&p, 0), 3.5, 1e-9);
    RGT_TRUE(mcmc_plan_baseline(&p, 0) >= 3.5 - 1e-9);
    RGT_INT(p.walkers, i == 6 ? 40 : 8);
    if (i == 0)
      RGT_DBL(mcmc_plan_baseline(&p, 0), 7, 1e-9);
    mcmc_plan_free(&p);
  }
}

/* With 3 walkers of 4, 8 and 12 on one group of 4 ranks they follow one another; on two
 * groups the third one goes to the group that is free first. */
static void test_queue(void) {
  mcmc_plan one = mcmc_plan_make(4, 4, 4, 10, 10, 0.1), two = mcmc_plan_make(8, 4, 4, 10, 10, 0.1);
  RGT_DBL(mcmc_plan_baseline(&one, 0), (0 + 4 + 8 + 12) * 10 * 0.1 / 4, 1e-9);
  RGT_DBL(mcmc_plan_baseline(&two, 0), 12 * 10 * 0.1 / 4, 1e-9);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"bounds", test_bounds},
                                   {"groups", test_groups},
                                   {"list", test_list},
                                   {"last unit is shorter", test_last_unit_is_shorter},
                                   {"steps", test_steps},
                                   {"step length", test_step_length},
                                   {"patterns", test_patterns},
                                   {"queue", test_queue},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "mcmc-plan", tests);
}
