/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_window_locks.py starts, with libregroup-mpi.so preloaded: window_locks TYPE. Rank 1 is
 * killed with the lock of rank 0's memory, shared or exclusive. The others ask for it: they get an
 * error of the window's, again and again. The locks of the other members go on, those of the dead
 * one, too, and the survivors shrink their group. */
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "ranks.h"

static int wrong;

static void check(int good) {
  wrong += !good;
}

/* An error of the library's that tells of the death. */
static int tells_of_death(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  if (code == MPI_SUCCESS)
    return 0;
  MPI_Error_string(code, text, &length);
  return strstr(text, "rank 1 ") && strstr(text, "has died");
}

static void die_with_lock(MPI_Win win, int type) {
  MPI_Win_lock(type, 0, 0, win);
  for (int i = 0; i < world_size; i++)
    if (i != 1)
      MPI_Send(&i, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
  usleep(200000); /* the others wait */
  kill(getpid(), SIGKILL);
}

/* Each survivor adds to the dead one's memory, under its lock. */
static void add_to_dead(MPI_Win win) {
  const int64_t one = 1;
  check(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win) == MPI_SUCCESS);
  check(MPI_Accumulate(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_SUM, win) == MPI_SUCCESS);
  check(MPI_Win_unlock(1, win) == MPI_SUCCESS);
}

static void survive(MPI_Win win, rg_group *world) {
  const int64_t one = 1;
  int64_t got = 0;
  int have;
  rg_group survivors;
  MPI_Recv(&have, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; i++) {
    check(tells_of_death(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)));
    add_to_dead(win);
  }
  if (my_rank > 1) {
    check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, my_rank, 0, win) == MPI_SUCCESS);
    check(MPI_Put(&one, 1, MPI_INT64_T, my_rank, 0, 1, MPI_INT64_T, win) == MPI_SUCCESS);
    check(MPI_Win_unlock(my_rank, win) == MPI_SUCCESS);
  }
  check(rg_group_shrink(*world, &survivors) == RG_SUCCESS);
  rg_group_free(world);
  *world = survivors;
  check(rg_barrier(*world) == RG_SUCCESS);
  check(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win) == MPI_SUCCESS);
  check(MPI_Get(&got, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win) == MPI_SUCCESS);
  check(MPI_Win_unlock(1, win) == MPI_SUCCESS);
  check(got == 3 * (world_size - 1));
  check(tells_of_death(MPI_Win_free(&win)));
}

int main(int argc, char **argv) {
  int64_t *base;
  MPI_Win win;
  rg_group world = enter_world(&argc, &argv);
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  rg_barrier(world);
  if (my_rank == 1)
    die_with_lock(win, strcmp(argv[1], "shared") ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED);
  survive(win, &world);
  printf("wrong %d\n", wrong);
  leave_world(&world);
  return wrong != 0;
}
