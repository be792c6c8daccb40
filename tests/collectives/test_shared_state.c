/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7 16
 * env: RG_TIMEOUT=30 RG_ARENA_SIZE=32 RGT_THREADS=funneled
 * The shared state of collectives when the arena is full or nearly so, and after an error: one
 * member allocates the shared buffer, all members do without if there is no room, what no group
 * uses is given back, and the members of a group take the same state. */
#include <mpi.h>
#include <regroup.h>
#include <regroup/recovery.h>
#include <stdlib.h>

#include "base/error.h"
#include "collectives/shared_state_cache.h"
#include "collectives/shm_coll.h"
#include "formation/group.h"
#include "progress/slot.h"
#include "shm/arena.h"
#include "tests/check/arena.h"
#include "tests/check/check.h"
#include "tests/check/full_arena.h"

#define RANKS_MOST 16
#define BYTES 100 /* more than a cell holds: they need the shared buffer */
#define GROUP 77  /* a number of a group */

static rg_group world;

/* --- a full arena ------------------------------------------------------------------- */

static size_t buffer_bytes(void) {
  return (size_t)rgt_size * rgi_shared_state_part(rgi_shared_state_depth(rgt_size));
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
    if (rgt_rank == 0)
      RGT_INT(rgi_slots_give_back(), rgt_size > 1 ? 2 : 0); /* the slot, too */
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

/* Each group has a buffer of its own, and all but one are idle. */
static void test_idle_given(void) {
  rgt_full_arena_fill(buffer_bytes() * 3 / 2, 1);
  for (int turn = 0; turn < 4 * rgt_size; turn++) {
    rg_group g = turned(turn % rgt_size, turn / rgt_size % 2);
    RGT_OK(bcast(g, 0));
    RGT_OK(rg_group_free(&g));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rgt_rank == rgt_size - 1) {
    uint64_t offset = 0;
    RGT_OK(rgi_arena_alloc("a test", buffer_bytes(), &offset));
    if (offset)
      rgi_arena_free(offset, buffer_bytes());
  }
  rgt_full_arena_empty();
}

/* Of idle states nothing is left, and groups that are formed afterwards work. */
static void test_idle_slots_given(void) {
  rg_group g = NULL;
  if (rgt_rank == 0)
    rgi_slots_give_back();
  size_t before = rgt_arena_used();
  for (int turn = 0; turn < 2 * rgt_size; turn++) {
    g = turned(turn % rgt_size, turn / rgt_size);
    expect_tiny_work(g);
    RGT_OK(rg_group_free(&g));
  }
  RGT_TRUE(rgt_size == 1 || rgt_arena_used() > before);
  if (rgt_rank == rgt_size - 1)
    RGT_TRUE(rgi_slots_give_back() >= (rgt_size > 1 ? 2 * rgt_size - 2 : 0));
  RGT_TRUE(rgt_arena_used() <= before);
  for (int turn = 0; turn < 2 * rgt_size; turn++) {
    g = turned(turn % rgt_size, turn / rgt_size);
    expect_tiny_work(g);
    RGT_OK(rg_group_free(&g));
  }
}

/* The last member gives back without a break what the others use, leave and come back to. */
static void test_given_meanwhile(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < 2000; turn++) {
    rg_group g = NULL;
    int sum = -1;
    if (rgt_rank == rgt_size - 1)
      rgi_slots_give_back();
    g = turned(turn % 3 % rgt_size, 1);
    RGT_OK(rg_allreduce(g, &turn, &sum, 1, MPI_INT, MPI_SUM));
    RGT_INT(sum, turn * rgt_size);
    RGT_OK(rg_group_free(&g));
  }
}

/* All ranks in a drawn order, the same on all of them. */
static void shuffle(int ranks[]) {
  for (int i = 0; i < rgt_size; i++) {
    int k = (int)(random() % (i + 1));
    ranks[i] = ranks[k];
    ranks[k] = i;
  }
}

/* Each order has groups of its own. What is kept for the next groups of them has a bound, which 300
 * orders of 16 members would exceed. */
static void test_idle_bound(void) {
  size_t before = rgt_arena_used(), after;
  srandom((unsigned)rgt_seed());
  for (int turn = 0; turn < 300; turn++) {
    int ranks[RANKS_MOST];
    rg_group g = NULL;
    shuffle(ranks);
    RGT_OK(rg_group_create(world, rgt_size, ranks, 2, &g));
    RGT_OK(rg_barrier(g));
    RGT_OK(rg_group_free(&g));
  }
  after = rgt_arena_used();
  size_t most = RGI_SHARED_STATE_CACHE_IDLE +
                rgi_shared_state_bytes(rgt_size, rgi_shared_state_depth(rgt_size));
  RGT_TRUE(after <= before + most + most / 4); /* blocks have steps of size */
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

static rg_group parent; /* each turn has another one: their members have different orders */

static rg_group new_group(void) {
  rg_group g = NULL;
  RGT_OK(rg_group_dup(parent, &g));
  return g;
}

/* Of which one collective works, on the state that is common to the groups of these members. */
static rg_group group_before(void) {
  rg_group g = new_group();
  RGT_OK(rg_barrier(g));
  MPI_Barrier(MPI_COMM_WORLD);
  return g;
}

/* One member has used the group before the error: all get it, and none waits for another. */
static void test_error_between(void) {
  for (int turn = 0; turn < rgt_size - 1; turn++) {
    int x = 5;
    parent = turned(turn, 1); /* rank `turn` is the first */
    rg_group before = group_before(), g = new_group(), after = new_group();
    if (rgt_rank == turn) {
      RGT_OK(rg_bcast(g, &x, 1, MPI_INT, 0)); /* the root waits for nobody */
      RGT_OK(rg_group_revoke(before));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rgt_rank != turn)
      RGT_FAILS(rg_bcast(g, &x, 1, MPI_INT, 0), RG_ERR_REVOKED);
    RGT_FAILS(rg_barrier(g), RG_ERR_REVOKED);
    expect_tiny_work(after);
    RGT_OK(bcast(after, 0));
    RGT_OK(rg_group_free(&parent));
    RGT_OK(rg_group_free(&before));
    RGT_OK(rg_group_free(&g));
    RGT_OK(rg_group_free(&after));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* No member has used the group before the error: it works. */
static void test_error_before(void) {
  for (int turn = 0; turn < rgt_size; turn++) {
    parent = turned(turn, 0);
    rg_group before = group_before(), g = new_group();
    if (rgt_rank == turn)
      RGT_OK(rg_group_revoke(before));
    MPI_Barrier(MPI_COMM_WORLD);
    expect_tiny_work(g);
    RGT_OK(bcast(g, 0));
    RGT_OK(rg_group_free(&parent));
    RGT_OK(rg_group_free(&before));
    RGT_OK(rg_group_free(&g));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* The error comes between a member's look at the state and its first step, while the others have
 * taken the group's own state. */
static void test_error_meanwhile(void) {
  parent = turned(rgt_size - 1, 1); /* no error yet on groups of this order */
  rg_group before = group_before(), g = new_group();
  rgi_shared_state *l = NULL;
  RGT_OK(rgi_shared_state_cache_attach(g, &l));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 0)
    RGT_OK(rgi_shared_state_cache_join(GROUP, &l));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == rgt_size - 1)
    RGT_OK(rg_group_revoke(before));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank > 0)
    RGT_OK(rgi_shared_state_cache_join(GROUP, &l));
  RGT_OK(rgi_group_check_member("test", g)); /* its failure scope */
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_size > 1)
    RGT_FAILS(rgi_shm_coll_barrier(l, "test"), RG_ERR_REVOKED);
  MPI_Barrier(MPI_COMM_WORLD);
  rgi_shared_state_cache_detach(l);
  RGT_OK(rg_group_free(&before));
  RGT_OK(rg_group_free(&g));
  MPI_Barrier(MPI_COMM_WORLD);
  g = new_group();
  expect_tiny_work(g);
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_group_free(&parent));
}

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
}

static void test_stop(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"one member allocates", test_one_allocates},
                                   {"no room for the buffer", test_no_room},
                                   {"room that comes too late", test_room_later},
                                   {"idle buffers are given back", test_idle_given},
                                   {"idle slots are given back", test_idle_slots_given},
                                   {"given back meanwhile", test_given_meanwhile},
                                   {"idle states have a bound", test_idle_bound},
                                   {"what is set aside is given back", test_aside_given},
                                   {"an error before all members", test_error_before},
                                   {"an error between two members", test_error_between},
                                   {"an error meanwhile", test_error_meanwhile},
                                   {"stop", test_stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "shared_state", tests);
}
