/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Start and stop, and the memory of the heap parts. */
#include "tests/check/check.h"
#include <armci.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/heap.h"
#include "runtime/runtime.h"
#include "shm/node.h"
#include "tests/arrays/engine_calls.h"
#include "tests/arrays/engine_cases.h"

uint64_t *blocks; /* of each rank, in its heap part */
static unsigned long long state;

long draw(long n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (long)((state >> 33) % (unsigned long long)n);
}

void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

char *mine(void) {
  return rgi_heap_at(rgt_rank, blocks[rgt_rank]);
}

void start(void) {
  state = rgt_seed();
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_TRUE(rgi_node.count > 1);
  RGT_TRUE(rgi_heap_is_open());
  uint64_t at = 1;
  blocks = calloc((size_t)rgt_size, sizeof *blocks);
  if (rgt_rank % 2) /* so that offsets differ */
    RGT_OK(rgi_heap_take("test", 4096, &at));
  RGT_OK(rgi_heap_take("test", BLOCK, &at));
  RGT_INT(at % RGI_LINE, 0);
  MPI_Allgather(&at, 8, MPI_BYTE, blocks, 8, MPI_BYTE, MPI_COMM_WORLD);
}

void stop(void) {
  free(blocks);
  RGT_OK(rg_finalize());
  RGT_INT(rgi_heap_is_open(), 0);
  RGT_INT(ARMCI_Initialized(), 0);
}

/* Heap parts of this node are memory here, those of other nodes are not. */
void test_at(void) {
  memset(mine(), rgt_rank + 1, BLOCK);
  barrier();
  for (int r = 0; r < rgt_size; r++) {
    char *there = rgi_heap_at(r, blocks[r]);
    RGT_INT(there != NULL, rgi_node_of(r) == rgi_node.mine);
    RGT_TRUE(!there || (there[0] == r + 1 && there[BLOCK - 1] == r + 1));
  }
  barrier();
}

/* --- memory ------------------------------------------------------------------------- */

void test_full(void) {
  uint64_t at = 17, all[3];
  RGT_FAILS(rgi_heap_take("test", (size_t)1 << 50, &at), RG_ERR_NOMEM);
  RGT_FAILS(rgi_heap_take("test", SIZE_MAX, &at), RG_ERR_NOMEM);
  RGT_INT(at, 17);
  RGT_TRUE(strstr(rg_error_detail(), "RG_ARRAY_SHARE") != NULL);
  for (int round = 0; round < 2;
       round++) { /* what was given back can be taken again, in one piece */
    size_t third = ((rgi_heap.size - 2 * BLOCK) / 64 / 3) * 64;
    third = third > 8 * BLOCK ? 8 * BLOCK : third;
    for (int i = 0; i < 3; i++)
      RGT_OK(rgi_heap_take("test", third, &all[i]));
    RGT_INT(all[1] - all[0], third);
    rgi_heap_give(all[1], third);
    rgi_heap_give(all[0], third);
    RGT_OK(rgi_heap_take("test", 2 * third, &at));
    RGT_INT(at, all[0]);
    rgi_heap_give(at, 2 * third);
    rgi_heap_give(all[2], third);
  }
}

/* The whole heap part, in pieces; what is given back can be taken again. */
void test_exhausted(void) {
  enum { MOST = 64 };
  uint64_t at[MOST];
  size_t bytes[MOST], size = (size_t)1 << 62;
  int n = 0;
  while (n < MOST && size >= RGI_LINE)
    if (rgi_heap_take("test", size, &at[n]) == RG_SUCCESS)
      bytes[n++] = size;
    else
      size /= 2;
  RGT_FAILS(rgi_heap_take("test", 1, &at[0]), RG_ERR_NOMEM);
  for (int i = 0; i < n; i++)
    rgi_heap_give(at[i], bytes[i]);
  RGT_OK(rgi_heap_take("test", bytes[0], &at[0]));
  rgi_heap_give(at[0], bytes[0]);
}

/* The library can be started again, also over some of the processes. */
void test_again(void) {
  MPI_Comm half;
  free(blocks);
  for (int i = 0; i < 3; i++) {
    RGT_OK(rg_finalize());
    MPI_Comm_split(MPI_COMM_WORLD, i == 1 && rgt_rank == 1, -rgt_rank, &half);
    RGT_OK(rg_init(half, NULL));
    RGT_INT(rgi_heap_is_open(), rgi_node.count > 1);
    if (rgi_heap_is_open()) {
      uint64_t at = 0;
      int next = (rgi_runtime.rank + 1) % rgi_runtime.size, value = 100 + rgi_runtime.rank, got = 0;
      rgi_strided p = rgi_strided_flat(sizeof value);
      RGT_OK(rgi_heap_take("test", BLOCK, &at));
      RGT_INT(at, 0);
      RGT_OK(engine_put(next, 0, &value, &p));
      RGT_OK(rgi_engine_fence(next));
      MPI_Barrier(half);
      RGT_OK(engine_get(rgi_runtime.rank, 0, &got, &p));
      RGT_INT(got, 100 + (rgi_runtime.rank + rgi_runtime.size - 1) % rgi_runtime.size);
      MPI_Barrier(half);
    }
    MPI_Comm_free(&half);
  }
  RGT_OK(rg_finalize());
  start();
}
