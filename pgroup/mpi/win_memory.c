/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_Alloc_mem and the memory of windows, from the node's arena. Where the arena is full MPI
 * allocates. In front of the memory stands a line with its size. */
#include <stdlib.h>

#include "mpi/intercept.h"
#include "mpi/win.h"
#include "shm/arena.h"

#define MAGIC 0x72676d656d6f7279u

typedef union {
  struct {
    uint64_t magic;
    size_t bytes; /* of the block */
  };
  char line[RGI_LINE];
} header;

void *rgi_win_memory_alloc(int64_t bytes) {
  uint64_t at;
  size_t all = (size_t)bytes + sizeof(header);
  if (rgi_arena_alloc("MPI_Alloc_mem", all, &at) != 0)
    return NULL;
  header *h = rgi_arena_at(at);
  h->magic = MAGIC;
  h->bytes = all;
  return h + 1;
}

static int free_memory(void *memory) {
  header *h = (header *)memory - 1;
  if ((uintptr_t)memory % RGI_LINE || h->magic != MAGIC)
    return 0;
  h->magic = 0;
  rgi_arena_free(rgi_arena_offset(h), h->bytes);
  return 1;
}

void rgi_win_memory_free(void *memory) {
  if (memory)
    free_memory(memory);
}

int rgi_win_memory_holds(const void *memory, int64_t bytes) {
  static _Atomic size_t known;
  size_t size = atomic_load_explicit(&known, memory_order_relaxed);
  if (!size) {
    rgi_arena_usage usage;
    rgi_arena_get_usage(&usage);
    atomic_store(&known, size = usage.size);
  }
  uint64_t at = rgi_arena_offset(memory);
  return at > 0 && at < size && (uint64_t)bytes <= size - at;
}

RG_API int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr) {
  void *memory = NULL;
  if (size > 0 && baseptr && rgi_intercept_chosen(RGI_INTERCEPT_RMA))
    memory = rgi_win_memory_alloc(size);
  if (!memory)
    return RGI_INTERCEPT_NEXT(PMPI_Alloc_mem)(size, info, baseptr);
  *(void **)baseptr = memory;
  return MPI_SUCCESS;
}

/* Memory of the arena is gone when the library has ended. */
RG_API int MPI_Free_mem(void *base) {
  if (!rgi_intercept_chosen(RGI_INTERCEPT_RMA) || !rgi_win_memory_holds(base, 0))
    return RGI_INTERCEPT_NEXT(PMPI_Free_mem)(base);
  if (free_memory(base))
    return MPI_SUCCESS;
  PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_BASE);
  return MPI_ERR_BASE;
}

RGI_INTERCEPT_BOTH(Alloc_mem);
RGI_INTERCEPT_BOTH(Free_mem);
