/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: RG_TIMEOUT=20 RG_ARENA_SIZE=32 RG_LOG=error MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 2 3 4 7
 * No memory for a group's flags on one of two pretended nodes: its collectives end in an error on
 * all members, also on the other node and where there is memory again when a member comes. */
#include <mpi.h>
#include <regroup.h>
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "shm/arena.h"
#include "shm/node.h"
#include "tests/check/check.h"
#include "tests/check/full_arena.h"
#include "tests/check/world.h"

#define MOST 8192
#define BLOCK 4096

static int short_here; /* this process is on the node without memory, and not alone there */

/* Another order: the members have no flags in common with groups before. */
static rg_group new_group(int turn) {
  rg_group g = NULL;
  int ranks[64];
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = turn % 2 ? (turn / 2 + i) % rgt_size : (turn / 2 + rgt_size - i) % rgt_size;
  RGT_OK(rg_group_create(world, rgt_size, ranks, 1, &g));
  return g;
}

static uint64_t block[2][MOST];
static int blocks[2];

/* What is set aside is taken, too. */
static void take_all(int here) {
  static const size_t bytes[2] = {BLOCK, RGI_LINE};
  rgt_full_arena_fill(0, here);
  for (int k = 0; k < 2 && here && rgi_node.me == 0; k++)
    while (blocks[k] < MOST && rgi_arena_alloc_for(RGI_ARENA_TELL, "a test", bytes[k],
                                                   &block[k][blocks[k]]) == RG_SUCCESS)
      blocks[k]++;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void give_all(void) {
  while (blocks[0] > 0)
    rgi_arena_free(block[0][--blocks[0]], BLOCK);
  while (blocks[1] > 0)
    rgi_arena_free(block[1][--blocks[1]], RGI_LINE);
}

/* Members on the node without memory call once, the others until they get the error. The first
 * member without memory gets that error; one that comes later may have been told of it before, as
 * the members on the other node are. */
static void expect_errors(rg_group g, int error) {
  int data = 0, root = 0, calls = 0, first = 0;
  for (int got = RG_SUCCESS; !got && calls < 3; calls++) {
    got = calls ? rg_barrier(g) : rg_bcast(g, &data, 1, MPI_INT, root);
    first |= short_here && got == error;
    if ((got || short_here || calls == 2) && !first)
      RGT_INT(got, RG_ERR_MISMATCH);
  }
  RGT_TRUE(rg_barrier(g) != RG_SUCCESS);
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  RGT_TRUE(first);
}

static void test_no_memory(void) {
  int pair = 0, all;
  for (int turn = 0; turn < 2 * rgt_size; turn++) {
    rg_group g = new_group(turn);
    short_here = rgi_node.mine == turn % 2 && rgi_node.n > 1;
    MPI_Allreduce(&short_here, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    take_all(rgi_node.mine == turn % 2);
    if (all)
      expect_errors(g, RG_ERR_NOMEM);
    pair |= all;
    MPI_Barrier(MPI_COMM_WORLD);
    give_all();
    rgt_full_arena_empty();
    RGT_TRUE(all == (rg_barrier(g) != RG_SUCCESS));
    RGT_OK(rg_group_free(&g));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  RGT_INT(pair, rgt_size > 2);
}

/* The others come when there is memory again: the group of those on one node, too. */
static void test_memory_later(void) {
  for (int turn = 0, any; turn < 4; turn++) {
    rg_group all = new_group(2 * rgt_size + turn), g = all;
    RGT_OK(rg_group_split(world, turn / 2 ? 0 : rgi_node.mine, -rgt_rank, &g));
    RGT_OK(rg_group_free(&all));
    short_here = rgi_node.mine == turn % 2 && rgi_node.n > 1;
    MPI_Allreduce(&short_here, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    take_all(rgi_node.mine == turn % 2);
    int first = short_here && rgi_node.me == 0;
    if (first)
      RGT_FAILS(rg_barrier(g), RG_ERR_NOMEM);
    MPI_Barrier(MPI_COMM_WORLD);
    give_all();
    rgt_full_arena_empty();
    if (short_here && !first)
      RGT_FAILS(rg_barrier(g), RG_ERR_NOMEM);
    if (!short_here && turn / 2 && any)
      RGT_FAILS(rg_barrier(g), RG_ERR_MISMATCH);
    MPI_Barrier(MPI_COMM_WORLD);
    RGT_OK(rg_group_free(&g));
  }
}

/* Groups that are formed afterwards work. */
static void test_afterwards(void) {
  for (int turn = 0; turn < 2 * rgt_size; turn++) {
    rg_group g = new_group(turn);
    int one = 1, sum = 0;
    RGT_OK(rg_allreduce(g, &one, &sum, 1, MPI_INT, MPI_SUM));
    RGT_INT(sum, rgt_size);
    RGT_OK(rg_group_free(&g));
  }
}

/* Each handle of the world has the error, also one that is made later; a duplicate has not. */
static void test_world(void) {
  rg_group later, copy;
  int any, one = 1, sum = 0;
  short_here = rgi_node.mine == 0 && rgi_node.n > 1;
  MPI_Allreduce(&short_here, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  take_all(rgi_node.mine == 0);
  if (any)
    expect_errors(world, RG_ERR_NOMEM);
  MPI_Barrier(MPI_COMM_WORLD);
  give_all();
  rgt_full_arena_empty();
  RGT_OK(rg_group_world(&later));
  if (any) {
    RGT_TRUE(rg_barrier(world) != RG_SUCCESS);
    RGT_PTR_NOT_NULL(strstr(rg_error_detail(), "rg_group_dup"));
  }
  RGT_OK(rg_group_dup(later, &copy));
  RGT_OK(rg_allreduce(copy, &one, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size);
  RGT_OK(rg_group_free(&copy));
  RGT_OK(rg_group_free(&later));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_begin},
                                   {"no memory", test_no_memory},
                                   {"memory later", test_memory_later},
                                   {"afterwards", test_afterwards},
                                   {"the world", test_world},
                                   {"stop", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "coll_shortage", tests);
}
