/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers on two (pretended) nodes: requests, walkers that go to the other node, the end.
 * ranks: 2 4 5
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * time: 120 */
#include "balance_work.h"

static rg_group world;

static void run(const char *name, int group, int walkers, int made) {
  work_context c = {.children = made, .random = (uint64_t)(walkers + rgt_rank + 1)};
  rg_walker_kind kind = work_kind(&c);
  rg_policy policy = {.size = sizeof policy};
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = group};
  int64_t count;
  int children = 0;
  const rg_balance_outcome *all;
  RGT_OK(rg_policy_parse(name, &policy));
  RGT_OK(rg_balance_create(world, &kind, &o, &c.b));
  for (int w = 0; w < walkers; w++) {
    RGT_OK(rg_balance_add(
        c.b,
        &(rg_walker_new){.size = sizeof(rg_walker_new), .id = w, .left = (double)work_units(w)}));
    children += work_units(w) > 0 ? made : 0;
  }
  RGT_OK(rg_balance_run(c.b));
  RGT_OK(rg_balance_gather(c.b, 0));
  RGT_OK(rg_balance_outcomes(c.b, &count, &all));
  if (rgt_rank == 0)
    RGT_INT(count, walkers + children);
  for (int i = 0; i < count && rgt_rank == 0; i++)
    work_check(&all[i]);
  RGT_OK(rg_balance_free(&c.b));
}

static void test_two_nodes(void) {
  static const char *const names[] = {"none",      "join-right",     "most-work",
                                      "share-out", "release:cost=0", "sync:i=2"};
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int p = 0; p < 6; p++)
    for (int group = 1; group <= 3; group++) {
      run(names[p], group, 0, 0);
      run(names[p], group, 1, 2);
      run(names[p], group, 6, 0);
      run(names[p], group, 14, 1);
    }
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"two nodes", test_two_nodes}, {NULL, NULL}};
  return rgt_main(argc, argv, "balance-nodes", tests);
}
