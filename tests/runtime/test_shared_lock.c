/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 4 7
 * Shared locks are fair: processes get a lock in the order in which they have asked for it, and an
 * owner that gives it back and asks again comes last. */
#include <regroup.h>
#include <string.h>

#include "access/shared_lock.h"
#include "shm/arena.h"
#include "tests/check/check.h"

enum { ROUNDS = 60, MOST = 7 };

/* A claim that has its ticket is not less. */
#define HAS_TICKET 8

/* In the order of asking: the owner's first turn is not counted, its second one is the last. */
typedef struct {
  rgi_shared_lock lock;
  rgi_shared_lock_claim claims[MOST];
  atomic_int asking;  /* how many others may ask by now */
  atomic_int turns;   /* that there have been in this round */
  int position[MOST]; /* of each process's turn */
} common;

static common *shared;
static uint64_t at;

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  if (rgt_rank == 0) {
    RGT_OK(rgi_arena_alloc("a test", sizeof *shared, &at));
    memset(rgi_arena_at(at), 0, sizeof *shared);
  }
  MPI_Bcast(&at, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  shared = rgi_arena_at(at);
  shared->claims[rgt_rank].rank = rgt_rank;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test_stop(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 0)
    rgi_arena_free(at, sizeof *shared);
  RGT_OK(rg_finalize());
}

static rgi_shared_lock_user user(void) {
  return (rgi_shared_lock_user){&shared->lock, shared->claims, rgt_size, rgt_rank};
}

static void acquire(rgi_shared_lock_kind kind) {
  rgi_shared_lock_user u = user();
  rgi_wait w;
  rgi_wait_start(&w, "a test", -1);
  RGT_OK(rgi_shared_lock_acquire(&u, kind, &w));
}

static void release(rgi_shared_lock_kind kind) {
  rgi_shared_lock_user u = user();
  rgi_shared_lock_release(&u, kind);
}

static void take_turn(rgi_shared_lock_kind kind) {
  acquire(kind);
  shared->position[rgt_rank] = atomic_fetch_add(&shared->turns, 1);
  release(kind);
}

static void await(const atomic_int *number, int least) {
  rgi_wait w;
  rgi_wait_start(&w, "a test", -1);
  while (atomic_load(number) < least && rgi_wait_more(&w) == RG_SUCCESS)
    ;
}

static void await_ticket(int rank) {
  rgi_wait w;
  rgi_wait_start(&w, "a test", rank);
  while (atomic_load(&shared->claims[rank].asked) < HAS_TICKET && rgi_wait_more(&w) == RG_SUCCESS)
    ;
}

/* The owner lets the others ask one after the other, and asks again while all of them wait. */
static void lead(void) {
  acquire(RGI_SHARED_LOCK_EXCLUSIVE);
  atomic_store(&shared->turns, 0);
  for (int i = 1; i < rgt_size; i++) {
    atomic_store(&shared->asking, i);
    await_ticket((rgt_rank + i) % rgt_size);
  }
  release(RGI_SHARED_LOCK_EXCLUSIVE);
  take_turn(RGI_SHARED_LOCK_EXCLUSIVE);
}

/* Some of each round share the lock with those that asked beside them. */
static rgi_shared_lock_kind kind_of(int round, int place) {
  unsigned mixed = (unsigned)(round * 7 + place) * 2654435761u;
  return round % 2 && mixed >> 31 ? RGI_SHARED_LOCK_SHARED : RGI_SHARED_LOCK_EXCLUSIVE;
}

/* place: in the order of asking, from 1 on; the owner's is the last one. */
static void check_order(int round, int owner) {
  for (int place = 1, first = 1; place <= rgt_size; place++) {
    int at_turn = shared->position[(owner + place) % rgt_size] + 1, last = place;
    if (place == rgt_size || kind_of(round, place) == RGI_SHARED_LOCK_EXCLUSIVE) {
      RGT_INT(at_turn, place);
      first = place + 1;
      continue;
    }
    while (last + 1 < rgt_size && kind_of(round, last + 1) == RGI_SHARED_LOCK_SHARED)
      last++;
    RGT_TRUE(at_turn >= first && at_turn <= last);
  }
}

static void test_order(void) {
  for (int round = 0; round < ROUNDS; round++) {
    int owner = round % rgt_size, place = (rgt_rank + rgt_size - owner) % rgt_size;
    if (rgt_rank == 0)
      atomic_store(&shared->asking, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (place == 0)
      lead();
    else {
      await(&shared->asking, place);
      take_turn(kind_of(round, place));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_order(round, owner);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", test_start}, {"order", test_order}, {"stop", test_stop}, {NULL, NULL}};
  return rgt_main(argc, argv, "shared_lock", tests);
}
