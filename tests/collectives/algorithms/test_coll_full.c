/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: RG_TIMEOUT=60 RG_ARENA_SIZE=32 RG_LOG=error MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 2 3 4
 * sources: tests/collectives/cases.c tests/collectives/moving.c tests/collectives/combining.c
 * Collectives on two pretended nodes, of which one has a full arena: an error of its members would
 * leave those on the other node waiting. */
#include "base/clock.h"
#include "full_arena.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "tests/collectives/cases.h"
#include "tests/collectives/suites.h"

#define MOST 4096
#define PAGE 4096

static void fill_one(void) {
  for (int i = 0; i < GROUPS; i++)
    RGT_OK(rg_barrier(groups[i]));
  rgt_full_arena_fill(0, rgi_node.mine == 0);
}

/* What is set aside is taken, too. The first messages wait until it is given back. */
static void test_waiting(void) {
  static uint64_t block[MOST];
  int n = 0, one = 1, sum = 0;
  rg_request request = NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  while (rgt_rank == 0 && n < MOST &&
         rgi_arena_alloc_for(RGI_ARENA_TELL, "a test", PAGE, &block[n]) == RG_SUCCESS)
    n++;
  RGT_TRUE(n < MOST);
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_iallreduce(groups[WORLD], &one, &sum, 1, MPI_INT, MPI_SUM, &request));
  rgi_clock_sleep(0.02);
  while (n > 0)
    rgi_arena_free(block[--n], PAGE);
  RGT_OK(rg_wait(&request, NULL));
  RGT_INT(sum, rgt_size);
}

/* Groups that are formed by messages. */
static void test_split(void) {
  rg_group part = NULL;
  int size = 0;
  RGT_OK(rg_group_split(groups[WORLD], 3, -rgt_rank, &part));
  RGT_OK(rg_barrier(part));
  RGT_OK(rg_group_size(part, &size));
  RGT_INT(size, rgt_size);
  RGT_OK(rg_group_free(&part));
}

static void test_array(void) {
  int64_t n = 1000;
  rg_array a = NULL;
  for (int turn = 0; turn < 3; turn++) {
    int error = rg_array_create_simple(groups[WORLD], RG_TYPE_DOUBLE, 1, &n, &a);
    RGT_OK(error);
    if (!error)
      RGT_OK(rg_array_free(&a));
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", start_groups},
                                   {"a full arena", fill_one},
                                   {"barrier", test_barrier},
                                   {"bcast", test_bcast},
                                   {"gather", test_gather},
                                   {"scatterv", test_scatterv},
                                   {"alltoall", test_alltoall},
                                   {"allreduce", test_allreduce},
                                   {"scan", test_scan},
                                   {"waiting for memory", test_waiting},
                                   {"a split", test_split},
                                   {"arrays", test_array},
                                   {"room again", rgt_full_arena_empty},
                                   {"stop", stop_groups},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "coll_full", tests);
}
