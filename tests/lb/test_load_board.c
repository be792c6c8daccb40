/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which leaders a change of the load board wakes, and when: those that had no answer at the version
 * before, when the lock is given back, once until they have looked again. */
#include <mpi.h>
#include <regroup.h>

#include "shm/node.h"
#include "tests/check/check.h"
#include "walkers/load_board.h"

static rg_group world;
static rgi_membership members;
static rgi_load_board board = {.members = &members};

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rgi_membership_open(&members, world));
  RGT_OK(rgi_load_board_open(&board));
}

static uint32_t bell_of(int rank) {
  return atomic_load(&rgi_node.processes[rgi_membership_place(&members, rank)].bell.value);
}

/* Row r: a leader that waits; one that works, or has something to do; a member. */
typedef enum { WAITS, WORKS, FOLLOWS } kind;

static kind kind_of(int rank) {
  return (kind)(rank % 3);
}

static void write_rows(void) {
  for (int r = 0; r < rgt_size; r++) {
    rgi_load_board_row *row = rgi_load_board_row_of(&board, r);
    row->leads = kind_of(r) != FOLLOWS;
    row->seen = kind_of(r) == WORKS ? -1 : board.shared->version;
  }
}

/* Two changes under one lock; who has been woken since `before`. */
static void change_twice(const uint32_t before[], int expected) {
  for (int i = 0; i < 2; i++)
    rgi_load_board_changed(&board);
  for (int r = 0; r < rgt_size; r++)
    RGT_INT(bell_of(r) - before[r], 0);
  rgi_load_board_unlock(&board);
  for (int r = 0; r < rgt_size; r++)
    RGT_INT(bell_of(r) - before[r], expected && kind_of(r) == WAITS && r != rgt_rank);
}

static void test_woken(void) {
  uint32_t before[64];
  int last = rgt_size - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int woken = 1; woken >= 0 && rgt_rank == last; woken--) {
    for (int r = 0; r < rgt_size; r++)
      before[r] = bell_of(r);
    RGT_OK(rgi_load_board_lock(&board));
    int64_t version = board.shared->version;
    if (woken)
      write_rows();
    change_twice(before, woken);
    RGT_INT(board.shared->version - version, 2);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test_stop(void) {
  rgi_load_board_close(&board);
  rgi_membership_close(&members);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", test_start}, {"woken", test_woken}, {"stop", test_stop}, {NULL, NULL}};
  return rgt_main(argc, argv, "load_board", tests);
}
