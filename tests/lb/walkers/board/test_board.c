/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which leaders a change of the load board wakes, and when: those that had no answer at the version
 * before, when the lock is given back, once until they have looked again. And the queue of walkers
 * that wait. */
#include <mpi.h>
#include <regroup.h>

#include <stdlib.h>
#include <string.h>

#include "shm/node.h"
#include "tests/check/check.h"
#include "walkers/board/board.h"

static rg_group world;
static rgi_membership members;
static rgi_board board = {.members = &members};

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rgi_membership_open(&members, world));
  RGT_OK(rgi_board_open(&board));
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
    rgi_board_row *row = rgi_board_row_of(&board, r);
    row->leads = kind_of(r) != FOLLOWS;
    row->seen = kind_of(r) == WORKS ? -1 : board.shared->version;
  }
}

/* Two changes under one lock; who has been woken since `before`. */
static void change_twice(const uint32_t before[], int expected) {
  for (int i = 0; i < 2; i++)
    rgi_board_changed(&board);
  for (int r = 0; r < rgt_size; r++)
    RGT_INT(bell_of(r) - before[r], 0);
  rgi_board_unlock(&board);
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
    RGT_OK(rgi_board_lock(&board));
    int64_t version = board.shared->version;
    if (woken)
      write_rows();
    change_twice(before, woken);
    RGT_INT(board.shared->version - version, 2);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* --- the queue ------------------------------------------------------------------------------ */

enum { QUEUED = 400 };

static unsigned draw(unsigned most) {
  static unsigned long long state;
  state = (state ? state : rgt_seed()) * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % most;
}

/* How many in at[] come before e: the longer ones, and of equal ones those that came earlier. */
static int before(const rgi_queue_entry at[], int count, const rgi_queue_entry *entry) {
  int n = 0;
  for (int i = 0; i < count; i++)
    n += at[i].left > entry->left || (at[i].left == entry->left && at[i].id < entry->id);
  return n;
}

static void check_shown(const rgi_queue *queue) {
  int wrong = 0;
  for (int i = 0; i < queue->count && i < RGI_QUEUE_SHOWN; i++)
    wrong += before(queue->at, queue->count, &queue->at[i]) != i;
  RGT_INT(wrong, 0);
}

static void test_queue(void) {
  rgi_queue q = {0};
  int64_t id = 0, taken = 0;
  for (; id < QUEUED / 4; id++)
    RGT_OK(rgi_queue_add(&q, &(rgi_queue_entry){.id = id, .left = draw(9)}));
  rgi_queue_sort(&q, 0);
  for (int i = 0; i < q.count; i++)
    RGT_INT(before(q.at, q.count, &q.at[i]), i);
  while (id < QUEUED || q.count > 0) {
    if (id < QUEUED && draw(3)) {
      RGT_OK(rgi_queue_insert(&q, &(rgi_queue_entry){.id = id, .left = draw(9)}));
      id++;
    } else if (q.count > 0) {
      rgi_queue_entry e = rgi_queue_take(&q, (int)draw((unsigned)q.count));
      for (int i = 0; i < q.count; i++)
        RGT_TRUE(q.at[i].id != e.id);
      taken++;
    }
    check_shown(&q);
  }
  RGT_INT(taken, QUEUED);
  rgi_queue_free(&q);
}

static void test_stop(void) {
  rgi_board_close(&board);
  rgi_membership_close(&members);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"woken", test_woken},
                                   {"queue", test_queue},
                                   {"stop", test_stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "load_board", tests);
}
