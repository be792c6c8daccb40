/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The parts of regroup-mcmc that need no communication.
 * ranks: 1
 * sources: examples/mcmc/plan.c examples/mcmc/walker.c examples/mcmc/lockstep.c */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "examples/mcmc/lockstep.h"
#include "examples/mcmc/plan.h"
#include "examples/mcmc/walker.h"

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
  RGT_INT(mcmc_plan_group_units(&p, 0), 0);
  RGT_INT(mcmc_plan_group_units(&p, 1), 40);
  p = published(1);
  RGT_INT(p.groups, 1);
  RGT_INT(mcmc_plan_size(&p, 0), 1);
}

/* Whatever the ranks, a list of walkers is the same and dealt out completely. */
static void test_list(void) {
  for (int ranks = 1; ranks < 40; ranks++) {
    mcmc_plan p = mcmc_plan_make(ranks, 4, 19, 25, 10, 1);
    int64_t samples = 0, units = 0;
    for (int j = 0; j < p.groups; j++) {
      samples += mcmc_plan_group_samples(&p, j);
      units += mcmc_plan_group_units(&p, j);
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
  RGT_INT(mcmc_plan_group_samples(&p, 1), 40);
  RGT_INT(mcmc_plan_group_units(&p, 1), 3);
}

/* However samples are dealt to ranks, their steps add up to the same. */
static void test_steps(void) {
  mcmc_state all = mcmc_steps(7, 28, 0, 1000, 1);
  for (int size = 1; size < 40; size++) {
    mcmc_state sum = {0, 0};
    for (int unit = 0; unit < 10; unit++)
      for (int rank = 0; rank < size; rank++) {
        mcmc_state part = mcmc_steps(7, 28, 100 * unit + rank, 100 * (unit + 1), size);
        sum.x += part.x;
        sum.y += part.y;
      }
    RGT_TRUE(sum.x == all.x && sum.y == all.y);
  }
  mcmc_state none = mcmc_steps(7, 28, 5, 5, 1), other = mcmc_steps(8, 28, 0, 1000, 1);
  RGT_TRUE(none.x == 0 && none.y == 0);
  RGT_TRUE(other.x != all.x && other.y != all.y);
  RGT_TRUE(mcmc_fingerprint(0, all) != mcmc_fingerprint(4, all));
}

/* No step is longer than 1/128 of the square's side, and both ways occur. */
static void test_step_length(void) {
  const uint64_t most = UINT64_C(1) << 57;
  int up = 0;
  for (int s = 0; s < 1000; s++) {
    mcmc_state step = mcmc_steps(1, 4, s, s + 1, 1);
    RGT_TRUE(step.x + most < 2 * most && step.y + most < 2 * most);
    up += step.x < most;
  }
  RGT_TRUE(up > 400 && up < 600);
}

static void test_join(void) {
  /* Groups 0-1 idle, 2-3 idle, 4-6 active, 7 active, 8-9 idle. */
  static const mcmc_load load[] = {{0, 0, 0, 0},  {0, 0, 0, 0},  {2, 0, 0, 0},  {2, 0, 0, 0},
                                   {4, 5, 30, 0}, {4, 5, 30, 0}, {4, 5, 30, 0}, {7, 1, 4, 0},
                                   {8, 0, 0, 0},  {8, 0, 0, 0}};
  for (int r = 0; r < 10; r++) {
    mcmc_join j = mcmc_lockstep_join(10, load, r);
    RGT_INT(j.first, r < 7 ? 0 : r < 8 ? 7 : 8);
    RGT_INT(j.last, r < 7 ? 6 : r < 8 ? 7 : 9);
    RGT_INT(j.owner, r < 7 ? 4 : r < 8 ? 7 : 8);
    RGT_INT(j.changed, r < 7);
  }
  RGT_DBL(mcmc_lockstep_longest(10, load), 30.0 / 7, 1e-12);
}

typedef struct {
  double seconds, mean, sd, least, most;
} simulated;

/* Units of work left, and formations, of each rank's group: the whole run without
 * any cost. */
static simulated simulate(int ranks, int interval) {
  mcmc_plan p = published(ranks);
  mcmc_load *load = malloc(sizeof *load * (size_t)ranks);
  mcmc_join *join = malloc(sizeof *join * (size_t)ranks);
  int *formed = malloc(sizeof *formed * (size_t)ranks);
  simulated s = {.least = 1e9};
  double units = 0, most_units, square = 0;
  for (int r = 0; r < ranks; r++) {
    load[r] = (mcmc_load){r / 4 * 4, mcmc_plan_group_units(&p, r / 4), 0, 0};
    formed[r] = 1;
  }
  do {
    most_units = 0;
    for (int r = 0; r < ranks; r++)
      load[r].samples = load[r].left < interval ? load[r].left : interval;
    /* Only groups that stay as they are until now: lengths in units of one rank. */
    for (int r = 0, first = 0; r < ranks; r++)
      if (r + 1 == ranks || load[r + 1].first != load[r].first) {
        double length = (double)load[r].samples / (r + 1 - first);
        most_units = length > most_units ? length : most_units;
        first = r + 1;
      }
    units += most_units;
    for (int r = 0; r < ranks; r++)
      load[r].left -= load[r].samples;
    for (int r = 0; r < ranks; r++) {
      join[r] = mcmc_lockstep_join(ranks, load, r);
      formed[r] += join[r].changed;
    }
    for (int r = 0; r < ranks; r++)
      if (load[r].left == 0)
        load[r].left = load[join[r].owner].left;
    for (int r = 0; r < ranks; r++)
      load[r].first = join[r].first;
  } while (most_units > 0);
  s.seconds = units * 0.1;
  for (int r = 0; r < ranks; r++) {
    s.mean += (double)formed[r] / ranks;
    square += (double)formed[r] * formed[r] / ranks;
    s.least = formed[r] < s.least ? formed[r] : s.least;
    s.most = formed[r] > s.most ? formed[r] : s.most;
  }
  s.sd = sqrt(square - s.mean * s.mean);
  free(load);
  free(join);
  free(formed);
  return s;
}

/* The published counts at 8192 ranks, and the times that the rules give. */
static void test_published(void) {
  static const struct {
    int interval;
    simulated s;
  } known[] = {{1, {6.125, 5.375, 2.12, 2, 8}},
               {16, {6.125, 5.375, 2.12, 2, 8}},
               {32, {-1, 5.375, 2.12, 2, 8}},
               {64, {-1, 3.75, 1.20, 2, 5}},
               {128, {6.475, 2.625, 0.48, 2, 3}}};
  for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
    for (int ranks = 32; ranks <= 8192; ranks *= 16) {
      simulated s = simulate(ranks, known[i].interval);
      if (known[i].s.seconds > 0)
        RGT_DBL(s.seconds, known[i].s.seconds, 1e-9);
      RGT_DBL(s.mean, known[i].s.mean, 1e-12);
      RGT_DBL(s.sd, known[i].s.sd, 0.006);
      RGT_DBL(s.least, known[i].s.least, 0);
      RGT_DBL(s.most, known[i].s.most, 0);
    }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"bounds", test_bounds},
                                   {"groups", test_groups},
                                   {"list", test_list},
                                   {"last unit is shorter", test_last_unit_is_shorter},
                                   {"steps", test_steps},
                                   {"step length", test_step_length},
                                   {"join", test_join},
                                   {"published", test_published},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "mcmc-plan", tests);
}
