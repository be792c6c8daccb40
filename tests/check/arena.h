/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How much of the node's arena is in use, for tests that nothing is left behind. */
#ifndef RGT_ARENA_H
#define RGT_ARENA_H

#include <mpi.h>

#include "shm/arena.h"

/* By all ranks, which are between two barriers when they look. */
static inline size_t rgt_arena_used(void) {
  rgi_arena_usage usage;
  MPI_Barrier(MPI_COMM_WORLD);
  rgi_arena_get_usage(&usage);
  MPI_Barrier(MPI_COMM_WORLD);
  return usage.used;
}

#endif
