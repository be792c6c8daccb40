/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The protocol's races: short units, delays at random in the callbacks, walkers that are
 * made while others run; hundreds of seeds. Every walker ends once, with the right state.
 * tier: default
 * ranks: 2 5 8
 * time: 120 */
#include <stdio.h>

#include "balance_work.h"

enum { SEEDS = 240 };

static rg_group world;

static const char *const policies[] = {
    "join-right",   "most-work", "share-out:cost=0", "share-out", "release:gain=0.3,cost=0",
    "share-out:i=1"};

static void run(uint64_t seed) {
  work_context c = {.random = seed * 2654435761u + (uint64_t)rgt_rank * 97 + 1,
                    .children = seed % 3 == 0,
                    .alike = seed % 4 == 1};
  rg_walker_kind kind = work_kind(&c);
  rg_policy policy = {.size = sizeof policy};
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 1 + (int)(seed / 6 % 3)};
  int walkers = 1 + (int)(seed * 7 % 13), children = 0, finished;
  int64_t count;
  const rg_balance_outcome *all;
  RGT_OK(rg_policy_parse(policies[seed % 6], &policy));
  RGT_OK(rg_balance_create(world, &kind, &o, &c.b));
  for (int w = 0; w < walkers; w++) {
    RGT_OK(rg_balance_add(
        c.b,
        &(rg_walker_new){.size = sizeof(rg_walker_new), .id = w, .left = (double)work_units(w)}));
    children += c.children && work_units(w) > 0;
  }
  RGT_OK(rg_balance_run(c.b));
  MPI_Allreduce(&c.finished, &finished, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (!RGT_INT(finished, walkers + children) && rgt_rank == 0)
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
  RGT_OK(rg_balance_gather(c.b, 0));
  RGT_OK(rg_balance_outcomes(c.b, &count, &all));
  if (rgt_rank == 0)
    RGT_INT(count, walkers + children);
  for (int i = 0; i < count && rgt_rank == 0; i++)
    work_check(&all[i]);
  RGT_OK(rg_balance_free(&c.b));
}

static void test_seeds(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (uint64_t i = 0; i < SEEDS; i++)
    run(rgt_seed() % 1000000 + i);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"seeds", test_seeds}, {NULL, NULL}};
  return rgt_main(argc, argv, "balance-races", tests);
}
