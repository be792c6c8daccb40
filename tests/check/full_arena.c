/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "full_arena.h"

#include <mpi.h>
#include <regroup/error.h>
#include <string.h>

#include "check.h"
#include "shm/arena.h"
#include "shm/node.h"

#define MOST 40000

static struct {
  uint64_t offset;
  size_t bytes;
} block[MOST];
static int blocks;

void rgt_full_arena_fill(size_t room, int here) {
  uint64_t kept = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (here && rgi_node.me == 0) {
    RGT_OK(room ? rgi_arena_alloc("a test", room, &kept) : RG_SUCCESS);
    for (size_t bytes = 1 << 20; bytes > 0; bytes = bytes > 1 << 14 ? bytes / 2 : bytes - RGI_LINE)
      while (blocks < MOST && rgi_arena_alloc("a test", bytes, &block[blocks].offset) == RG_SUCCESS)
        block[blocks++].bytes = bytes;
    if (room)
      rgi_arena_free(kept, room);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void rgt_full_arena_overwrite(int byte) {
  for (int i = 0; i < blocks; i++)
    memset(rgi_arena_at(block[i].offset), byte, block[i].bytes);
}

void rgt_full_arena_empty(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (; blocks > 0; blocks--)
    rgi_arena_free(block[blocks - 1].offset, block[blocks - 1].bytes);
  MPI_Barrier(MPI_COMM_WORLD);
}
