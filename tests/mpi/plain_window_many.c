/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Windows that are made and freed one after another, of each kind of memory: as many as the
 * argument says, of different sizes. Each is used once. With a second argument the memory of a
 * small arena is used up before. */
#include <stdint.h>
#include <stdlib.h>

#include "plain.h"

enum { MOST = 40 }; /* numbers of a member */

/* The caller's number in the next member's memory. */
static int use(MPI_Win win, int64_t *base, int rank, int size, int i) {
  int64_t mine = 3 * (int64_t)i + rank, want = 3 * (int64_t)i + (rank + size - 1) % size;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  MPI_Put(&mine, 1, MPI_INT64_T, (rank + 1) % size, i % MOST, 1, MPI_INT64_T, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  return base[i % MOST] != want;
}

static int make_one(int flavor, int rank, int size, int i) {
  MPI_Aint bytes = (i % MOST + 1) * (MPI_Aint)sizeof(int64_t);
  int64_t *base;
  MPI_Win win;
  if (flavor == MPI_WIN_FLAVOR_ALLOCATE)
    MPI_Win_allocate(bytes, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  else if (flavor == MPI_WIN_FLAVOR_SHARED)
    MPI_Win_allocate_shared(bytes, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  else {
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base);
    MPI_Win_create(base, bytes, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  }
  int wrong = use(win, base, rank, size, i);
  MPI_Win_free(&win);
  if (flavor == MPI_WIN_FLAVOR_CREATE)
    MPI_Free_mem(base);
  return wrong;
}

enum { PIECES = 1500 };

/* Two mebibytes of each process: long pieces first. */
static void *piece[PIECES];

static void use_up(void) {
  for (int i = 0; i < PIECES; i++)
    MPI_Alloc_mem(i < 128 ? 16384 : i < 512 ? 1024 : 64, MPI_INFO_NULL, &piece[i]);
}

static void give_back(void) {
  for (int i = 0; i < PIECES; i++)
    MPI_Free_mem(piece[i]);
}

int main(int argc, char **argv) {
  static const int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE,
                                MPI_WIN_FLAVOR_SHARED};
  int rank, size, many = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 2)
    use_up();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int k = 0; k < 3; k++) {
    int wrong = 0;
    for (int i = 0; i < many; i++)
      wrong += make_one(flavors[k], rank, size, i);
    plain_number("wrong", wrong);
  }
  if (argc > 2)
    give_back();
  MPI_Finalize();
  return 0;
}
