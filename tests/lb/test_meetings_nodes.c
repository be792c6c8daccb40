/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers that meet on two (pretended) nodes.
 * ranks: 2 4 5
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * time: 120 */
#include "meeting_run.h"

static void test_two_nodes(void) {
  static const char *const names[] = {"none",    "join-right", "most-work", "share-out",
                                      "release", "sync:i=2",   "share-out"};
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int i = 0; i < 7; i++)
    for (int group = 0; group < 3; group++) {
      uint64_t seed = rgt_seed() + (uint64_t)(3 * i + group);
      if (rgt_rank == 0)
        printf("policy %s, seed %llu\n", names[i], (unsigned long long)seed);
      run(names[i], seed, 2 + (int)(seed % (MEETING_WALKERS - 1)), group, (int)(seed / 2 % 2),
          (int)(seed / 4 % 2));
    }
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"two nodes", test_two_nodes}, {NULL, NULL}};
  return rgt_main(argc, argv, "meetings-nodes", tests);
}
