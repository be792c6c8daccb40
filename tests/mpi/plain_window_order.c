/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Two processes put and flush at the same time, each to a place of its own, and then get from the
 * place of the other one: one of them at least finds what the other one has put. How: an argument
 * tells by which flush: 0: MPI_Win_flush, 1: MPI_Win_flush_all. */
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "plain.h"

enum { ROUNDS = 50000, LINE = 8, PLACES = 2 * LINE }; /* a line of the cache for each place */

/* Both begin a round as nearly together as can be. */
static void meet(_Atomic int64_t *mine, _Atomic int64_t *other, int64_t round) {
  atomic_store(mine, round);
  for (int i = 1; atomic_load_explicit(other, memory_order_acquire) < round; i++)
    if (i % 1000 == 0)
      sched_yield();
}

int main(int argc, char **argv) {
  MPI_Aint size;
  int64_t *base;
  int rank, unit, lost = 0;
  MPI_Win win;
  static signed char found[ROUNDS], both[ROUNDS];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate_shared(rank ? 0 : 2 * PLACES * sizeof *base, sizeof *base, MPI_INFO_NULL,
                          MPI_COMM_WORLD, &base, &win);
  MPI_Win_shared_query(win, 0, &size, &unit, &base);
  _Atomic int64_t *there = (_Atomic int64_t *)(base + PLACES);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int64_t i = 1; i <= ROUNDS && rank < 2; i++) {
    int64_t got = 0;
    meet(&there[rank * LINE], &there[(1 - rank) * LINE], i);
    MPI_Put(&i, 1, MPI_INT64_T, 0, rank * LINE, 1, MPI_INT64_T, win);
    if (argc > 1 && atoi(argv[1]))
      MPI_Win_flush_all(win);
    else
      MPI_Win_flush(0, win);
    MPI_Get(&got, 1, MPI_INT64_T, 0, (1 - rank) * LINE, 1, MPI_INT64_T, win);
    found[i - 1] = got >= i;
  }
  MPI_Win_unlock_all(win);
  MPI_Allreduce(found, both, ROUNDS, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < ROUNDS; i++)
    lost += !both[i];
  plain_number("lost", lost);
  MPI_Win_free(&win);
  MPI_Finalize();
  return lost != 0;
}
