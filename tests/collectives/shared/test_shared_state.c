/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7 16
 * env: RG_TIMEOUT=30 RG_ARENA_SIZE=32 RGT_THREADS=funneled
 * The shared state of collectives when the arena is full or nearly so, and after an error: one
 * member allocates a buffer, all members do without if there is no room, nothing that a member
 * still needs is given back, and everything when all have left. An error concerns its group alone.
 */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "collectives/node/node_coll.h"
#include "collectives/node/step.h"
#include "collectives/shared/shared_state.h"
#include "formation/group.h"
#include "shm/arena.h"
#include "tests/check/arena.h"
#include "tests/check/check.h"
#include "tests/check/full_arena.h"
#include "tests/check/world.h"
#include "tests/collectives/ways.h"

#define RANKS_MOST 16
#define BYTES 100 /* more than a cell holds: they need the shared buffer */

/* --- a full arena ------------------------------------------------------------------- */

static size_t buffer_bytes(void) {
  uint32_t chunk = rgi_shared_state_chunk(rgi_shared_state_size(BYTES));
  return (size_t)rgt_size * rgi_shared_state_part(rgi_shared_state_depth(rgt_size), chunk);
}

/* All ranks in another order: turned by `first`, forwards or backwards. */
static rg_group turned(int first, int forwards) {
  rg_group g = NULL;
  int ranks[RANKS_MOST];
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = (first + (forwards ? i : rgt_size - i)) % rgt_size;
  RGT_OK(rg_group_create(world, rgt_size, ranks, 1, &g));
  return g;
}

static int bcast(rg_group g, int root) {
  char data[BYTES] = {0};
  int me = -1;
  RGT_OK(rg_group_rank(g, &me));
  for (int i = 0; i < BYTES; i++)
    data[i] = (char)(me == root ? i : 0);
  RGI_TRY(rg_bcast(g, data, BYTES, MPI_CHAR, root));
  for (int i = 0; i < BYTES; i++)
    RGT_INT(data[i], i);
  return RG_SUCCESS;
}

static void expect_tiny_work(rg_group g) {
  int one = 1, sum = 0;
  RGT_OK(rg_barrier(g));
  RGT_OK(rg_allreduce(g, &one, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size);
}

/* There is room for one buffer, and not for two. */
static void test_one_allocates(void) {
  rgt_full_arena_fill(buffer_bytes() * 3 / 2, 1);
  for (int turn = 0; turn < 40; turn++) {
    rg_group g = NULL;
    RGT_OK(rg_group_dup(world, &g));
    MPI_Barrier(MPI_COMM_WORLD);
    RGT_OK(bcast(g, turn % rgt_size));
    RGT_OK(rg_barrier(g));
    RGT_OK(rg_group_free(&g));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  rgt_full_arena_empty();
}

/* Of BYTES bytes for each member, from every root. */
static void expect_all_work(rg_group g, int root) {
  static char in[BYTES * RANKS_MOST], out[BYTES * RANKS_MOST];
  int me = -1, wrong = 0;
  RGT_OK(rg_group_rank(g, &me));
  for (int i = 0; i < BYTES * rgt_size; i++)
    in[i] = (char)(i + me);
  RGT_OK(bcast(g, root));
  RGT_OK(rg_allreduce(g, in, out, BYTES, MPI_INT8_T, MPI_MAX));
  for (int i = 0; i < BYTES; i++)
    wrong += out[i] != (char)(i + rgt_size - 1);
  RGT_OK(rg_gather(g, in, BYTES, MPI_CHAR, out, BYTES, MPI_CHAR, root));
  for (int i = 0; i < BYTES * rgt_size && me == root; i++)
    wrong += out[i] != (char)(i % BYTES + i / BYTES);
  RGT_OK(rg_scatter(g, in, BYTES, MPI_CHAR, out, BYTES, MPI_CHAR, root));
  for (int i = 0; i < BYTES; i++)
    wrong += out[i] != (char)(i + me * BYTES + root);
  RGT_OK(rg_alltoall(g, in, BYTES, MPI_CHAR, out, BYTES, MPI_CHAR));
  for (int i = 0; i < BYTES * rgt_size; i++)
    wrong += out[i] != (char)(i % BYTES + me * BYTES + i / BYTES);
  RGT_INT(wrong, 0);
}

/* Data go through the cells, also where the root runs ahead. */
static void test_no_room(void) {
  rg_group g = NULL;
  RGT_OK(rg_group_dup(world, &g));
  expect_tiny_work(g);
  rgt_full_arena_fill(0, 1);
  for (int turn = 0; turn < 20; turn++) {
    expect_all_work(g, turn % rgt_size);
    if (turn % 2)
      expect_tiny_work(g);
  }
  rgt_full_arena_empty();
  expect_all_work(g, rgt_size - 1);
  RGT_OK(rg_group_free(&g));
}

/* The root finds that there is no room. The others come when there is, and do without as well. */
static void test_room_later(void) {
  for (int turn = 0; turn < 2 && rgt_size > 1; turn++) {
    rg_group g = NULL;
    RGT_OK(rg_group_dup(world, &g));
    RGT_OK(rg_barrier(g));
    rgt_full_arena_fill(0, 1);
    if (rgt_rank == turn)
      RGT_OK(bcast(g, turn)); /* not more than it may be ahead of the others */
    rgt_full_arena_empty();
    if (rgt_rank != turn)
      RGT_OK(bcast(g, turn));
    expect_all_work(g, turn);
    expect_tiny_work(g);
    RGT_OK(rg_group_free(&g));
  }
}

/* The root has given, and has freed the group. What it gave stays until the others have taken it,
 * however much memory others need. */
static void test_late(void) {
  for (int turn = 0; turn < 2 && rgt_size > 1; turn++) {
    char data[BYTES];
    rg_group g = NULL;
    RGT_OK(rg_group_create_range(world, 0, rgt_size - 1, 1, 9, &g));
    memset(data, rgt_rank == turn ? 0x5a : 0, BYTES);
    if (rgt_rank == turn) {
      RGT_OK(rg_bcast(g, data, BYTES, MPI_CHAR, turn));
      RGT_OK(rg_group_free(&g));
    }
    rgt_full_arena_fill(0, 1);
    rgt_full_arena_overwrite(0x11);
    rgt_full_arena_empty();
    if (rgt_rank != turn) {
      RGT_OK(rg_bcast(g, data, BYTES, MPI_CHAR, turn));
      RGT_OK(rg_group_free(&g));
    }
    RGT_TRUE(data[0] == 0x5a && !memcmp(data, data + 1, BYTES - 1));
  }
}

/* The arena has as much in use as before when all members have freed all groups; a group takes no
 * more than its operations need. */
static void test_freed(void) {
  enum { LIVE = 20 };
  rg_group g[LIVE];
  MPI_Barrier(MPI_COMM_WORLD);
  size_t before = rgt_arena_used(),
         state = rgi_shared_state_bytes(rgt_size, rgi_shared_state_depth(rgt_size)) + RGI_LINE;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < LIVE; i++) {
    g[i] = turned(i % rgt_size, i / rgt_size % 2);
    expect_tiny_work(g[i]);
    RGT_OK(bcast(g[i], i % rgt_size));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  size_t used = rgt_arena_used() - before, most = LIVE * (state + buffer_bytes());
  RGT_TRUE(used <= most + most / 4); /* blocks have steps of size */
  for (int i = 0; i < LIVE; i++)
    RGT_OK(rg_group_free(&g[i]));
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_INT(rgt_arena_used(), before);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The memory is freed also where all but the root free the group before it has attached it. */
static void test_freed_before(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  size_t before = rgt_arena_used();
  for (int turn = 0; turn < 4 && rgt_size > 1; turn++) {
    rg_group g = NULL;
    int root = turn % rgt_size, one = 1;
    RGT_OK(rg_group_dup(world, &g));
    RGT_OK(rg_group_set_algorithm(g, RG_OP_BCAST, "auto"));
    if (rgt_rank != root)
      RGT_OK(rg_group_free(&g));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rgt_rank == root) {
      RGT_OK(rg_bcast(g, &one, 1, MPI_INT, root));
      RGT_OK(rg_group_free(&g));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  RGT_INT(rgt_arena_used(), before);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A query is local: nothing is left where one member only has made it. */
static void test_asked(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  size_t before = rgt_arena_used();
  for (int turn = 0; turn < 4; turn++) {
    rg_group g = NULL;
    const char *name;
    RGT_OK(rg_group_dup(world, &g));
    if (rgt_rank == turn % rgt_size)
      RGT_OK(rg_group_algorithm(g, RG_OP_BCAST, 8, &name));
    RGT_OK(rg_group_free(&g));
  }
  RGT_INT(rgt_arena_used(), before);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* What is set aside for groups in a full arena is not kept by idle ones. */
static void test_aside_given(void) {
  rgt_full_arena_fill(0, 1);
  size_t before = rgt_arena_used();
  for (int turn = 0; turn < 3; turn++) {
    rg_group g = NULL;
    RGT_OK(rg_group_create_range(world, 0, rgt_size > 2 ? rgt_size - 2 : 0, 1, 5, &g));
    if (g)
      RGT_OK(rg_barrier(g));
    RGT_OK(rg_group_free(&g));
    RGT_INT(rgt_arena_used(), before);
  }
  rgt_full_arena_empty();
}

/* --- after an error ------------------------------------------------------------------- */

/* A reduction whose lengths differ. */
static int disagree(rg_group g) {
  double in[40] = {0}, out[40];
  return rg_allreduce(g, in, out, rgt_rank == 0 ? 40 : 30, MPI_DOUBLE, MPI_SUM);
}

/* It ends its group. Others of the same members go on, and the group can be formed again, before or
 * after the old one is freed. */
static void test_error_alone(void) {
  for (int turn = 0; turn < 8 && rgt_size > 1; turn++) {
    rg_group before = NULL, g = NULL, again = NULL;
    RGT_OK(rg_group_dup(world, &before));
    RGT_OK(rg_group_create_range(world, 0, rgt_size - 1, 1, 4, &g));
    expect_tiny_work(before);
    if (turn % 2)
      expect_tiny_work(g);
    RGT_TRUE(disagree(g) != RG_SUCCESS);
    RGT_TRUE(rg_barrier(g) != RG_SUCCESS);
    if (turn / 2 % 2)
      RGT_OK(rg_group_free(&g));
    RGT_OK(turn / 4 ? rg_group_dup(before, &again)
                    : rg_group_create_range(world, 0, rgt_size - 1, 1, 4, &again));
    expect_tiny_work(again);
    RGT_OK(bcast(again, 0));
    RGT_OK(bcast(before, 0));
    expect_tiny_work(world);
    RGT_OK(rg_group_free(&g));
    RGT_OK(rg_group_free(&again));
    RGT_OK(rg_group_free(&before));
  }
}

/* Nothing is left of groups that have ended in an error. */
static void test_error_freed(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  size_t before = rgt_arena_used();
  for (int turn = 0; turn < 20 && rgt_size > 1; turn++) {
    rg_group g = NULL;
    RGT_OK(rg_group_dup(world, &g));
    for (int i = 0; i < turn % 3; i++)
      RGT_OK(bcast(g, i % rgt_size));
    RGT_TRUE(disagree(g) != RG_SUCCESS);
    RGT_OK(rg_group_free(&g));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_INT(rgt_arena_used(), before);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* An error of the caller's own arguments: the member has taken part in nothing, and does so
 * afterwards. */
static void test_error_before(void) {
  int one = 1, sum = 0;
  rg_group g = NULL;
  RGT_OK(rg_group_dup(world, &g));
  if (rgt_rank == 0)
    RGT_FAILS(rg_bcast(g, &one, 1, MPI_INT, rgt_size), RG_ERR_RANK);
  RGT_OK(rg_allreduce(g, &one, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size);
  RGT_OK(rg_group_free(&g));
}

/* Lists of the same members in different orders. The group that is formed next is right. */
static void test_orders(void) {
  for (int turn = 0; turn < 2 && rgt_size > 1; turn++) {
    rg_group g = turned(rgt_rank == turn, 1);
    RGT_FAILS(rg_barrier(g), RG_ERR_MISMATCH);
    MPI_Barrier(MPI_COMM_WORLD);
    RGT_OK(rg_group_free(&g));
    g = turned(turn, 1);
    expect_tiny_work(g);
    RGT_OK(rg_group_free(&g));
  }
}

/* A member that cannot begin tells the others, which do not wait for it. */
static void test_told(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  size_t before = rgt_arena_used();
  for (int turn = 0; turn < 2 && rgt_size > 1; turn++) {
    rg_group g = NULL;
    RGT_OK(rg_group_dup(world, &g));
    if (turn == 1)
      expect_tiny_work(g);
    if (rgt_rank == 0)
      rgi_shared_state_break(g, RG_ERR_NOMEM);
    else
      RGT_FAILS(rg_barrier(g), RG_ERR_MISMATCH);
    RGT_OK(rg_group_free(&g));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_INT(rgt_arena_used(), before);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* --- after many steps -------------------------------------------------------------------- */

static void begin_at(rgi_shared_state *state, uint32_t step) {
  RGT_OK(rgi_shared_state_attach(state));
  atomic_store(&rgi_shared_state_member_at(state, state->me)->done, step);
  state->step = state->ended = state->flat = step;
  state->safe = state->near_safe = step - state->depth;
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Numbers of steps wrap round, and what was not written for half of them is not taken for later. */
static void test_many_steps(void) {
  static const uint32_t first[] = {0x7ffffff8, 0x80000010, 0xffffffe0};
  int all[RANKS_MOST], wrong = 0;
  for (int turn = 0; turn < 3 && rgt_size > 1; turn++) {
    rg_group g = NULL;
    rgi_shared_state *state = NULL;
    RGT_OK(rg_group_dup(world, &g));
    RGT_OK(rgi_group_check_member("test", g));
    RGT_OK(rgi_shared_state_make(g, &state));
    begin_at(state, first[turn]);
    for (int i = 0; i < 40; i++) {
      int x = rgt_rank == i % rgt_size ? i : -1, root = i % rgt_size;
      rgi_node_coll_blocks b = {&rgt_rank, all, sizeof x, RGI_NODE_COLL_ALL, "test", 0};
      if (i % 8 < 4)
        RGT_OK(ways_gather(state, &b));
      if (rgt_rank == root && i % 8 == 5)
        rgi_clock_sleep(0.002);
      RGT_OK(ways_bcast(state, &x, sizeof x, root));
      wrong += x != i || all[rgt_size - 1] != rgt_size - 1;
    }
    RGT_OK(rgi_node_coll_barrier(state, "test"));
    rgi_shared_state_free(state);
    RGT_OK(rg_group_free(&g));
  }
  RGT_INT(wrong, 0);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_begin},
                                   {"one member allocates", test_one_allocates},
                                   {"no room for the buffer", test_no_room},
                                   {"room that comes too late", test_room_later},
                                   {"a late reader", test_late},
                                   {"all is freed", test_freed},
                                   {"freed before", test_freed_before},
                                   {"asked only", test_asked},
                                   {"what is set aside is given back", test_aside_given},
                                   {"an error in one group", test_error_alone},
                                   {"an error leaves nothing", test_error_freed},
                                   {"an error before the first step", test_error_before},
                                   {"lists of different orders", test_orders},
                                   {"a member that cannot begin", test_told},
                                   {"many steps", test_many_steps},
                                   {"stop", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "shared_state", tests);
}
