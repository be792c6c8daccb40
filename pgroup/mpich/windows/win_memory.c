/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_Alloc_mem and the memory of windows, from the node's arena. Where the arena is full MPI
 * allocates. In front of the memory stands a line with its block. Large blocks are promised: pages
 * come when they are touched.
 *
 * The arena stays mapped until the process ends: a program may use the memory, and free it, while
 * MPI_Finalize deletes attributes, and read it after that. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "mpi/intercept.h"
#include "mpich/windows/win.h"
#include "shm/arena.h"

#define MAGIC 0x72676d656d6f7279u

/* From so many bytes on a block is promised. Smaller ones keep their memory when they are freed,
 * for the next ones. */
#define PROMISED ((size_t)16 << 20)

typedef union {
  struct {
    uint64_t magic;
    uint64_t block;
    size_t bytes; /* of the block */
  };
  char line[RGI_LINE];
} header;

/* Where the arena is, also when the library has ended. */
static struct {
  pthread_once_t once;
  char *base;
  size_t size;
  struct sigaction before;
} memory_of = {.once = PTHREAD_ONCE_INIT};

/* --- a page for which there is no memory ------------------------------------------------------ */

/* Then the signal comes again, and what was there before handles it. */
static void tell_shortage(int signal, siginfo_t *info, void *context) {
  static const char text[] =
      "regroup: the node has no memory left for a page of a window or of MPI_Alloc_mem that is "
      "used for the first time; the job ends by SIGBUS\n";
  (void)context;
  if (info->si_code == BUS_ADRERR &&
      (size_t)((char *)info->si_addr - memory_of.base) < memory_of.size)
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
  sigaction(signal, &memory_of.before, NULL);
}

static void open_memory(void) {
  const struct sigaction action = {.sa_sigaction = tell_shortage, .sa_flags = SA_SIGINFO};
  rgi_arena_usage usage;
  rgi_arena_get_usage(&usage);
  memory_of.base = rgi_arena_at(0);
  memory_of.size = usage.size;
  sigaction(SIGBUS, &action, &memory_of.before);
}

void rgi_win_memory_open(void) {
  pthread_once(&memory_of.once, open_memory);
}

/* --- blocks ----------------------------------------------------------------------------------- */

int rgi_win_memory_alloc(const rgi_win_memory_wish *wish, void **memory) {
  size_t to = wish->alignment > RGI_LINE ? wish->alignment : RGI_LINE;
  size_t all = (size_t)wish->bytes + sizeof(header) + (to - RGI_LINE);
  int promised = all >= PROMISED;
  uint64_t block;
  *memory = NULL;
  rgi_win_memory_open();
  int error = promised ? rgi_arena_alloc_promised(wish->call, all, &block)
                       : rgi_arena_alloc(wish->call, all, &block);
  if (error)
    return error == RG_ERR_LIMIT ? MPI_ERR_NO_MEM : MPI_SUCCESS;
  char *at = (char *)rgi_arena_at(block) + sizeof(header);
  at += (to - (uintptr_t)at % to) % to;
  ((header *)at)[-1] = (header){.magic = MAGIC, .block = block, .bytes = all};
  if (wish->zeroed && !promised)
    memset(at, 0, (size_t)wish->bytes);
  *memory = at;
  return MPI_SUCCESS;
}

static int free_memory(void *memory) {
  header *h = (header *)memory - 1;
  if ((uintptr_t)memory % RGI_LINE || h->magic != MAGIC)
    return 0;
  header was = *h;
  h->magic = 0;
  if (was.bytes >= PROMISED)
    rgi_arena_free_promised(was.block, was.bytes);
  else
    rgi_arena_free(was.block, was.bytes);
  return 1;
}

void rgi_win_memory_free(void *memory) {
  if (memory)
    free_memory(memory);
}

int rgi_win_memory_holds(const void *memory, int64_t bytes) {
  size_t at = (size_t)((const char *)memory - memory_of.base);
  return memory_of.base && at > 0 && at < memory_of.size && (uint64_t)bytes <= memory_of.size - at;
}

/* A power of two, or no wish. */
size_t rgi_win_memory_alignment(MPI_Info info) {
  char value[32] = "";
  int flag = 0;
  if (info != MPI_INFO_NULL)
    PMPI_Info_get(info, "mpi_minimum_memory_alignment", sizeof value - 1, value, &flag);
  size_t to = flag ? strtoul(value, NULL, 10) : 0;
  return to & (to - 1) || to > (size_t)1 << 40 ? 0 : to;
}

/* --- MPI's functions -------------------------------------------------------------------------- */

RG_API int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr) {
  void *memory = NULL;
  if (size > 0 && baseptr && rgi_intercept_chosen(RGI_INTERCEPT_RMA)) {
    int class = rgi_win_memory_alloc(
        &(rgi_win_memory_wish){
            .call = "MPI_Alloc_mem", .bytes = size, .alignment = rgi_win_memory_alignment(info)},
        &memory);
    if (class != MPI_SUCCESS) {
      PMPI_Comm_call_errhandler(MPI_COMM_WORLD, class);
      return class;
    }
  }
  if (!memory)
    return RGI_INTERCEPT_NEXT(PMPI_Alloc_mem)(size, info, baseptr);
  *(void **)baseptr = memory;
  return MPI_SUCCESS;
}

RG_API int MPI_Free_mem(void *base) {
  int finalized = 0;
  if (!rgi_win_memory_holds(base, 0))
    return RGI_INTERCEPT_NEXT(PMPI_Free_mem)(base);
  if (free_memory(base))
    return MPI_SUCCESS;
  PMPI_Finalized(&finalized);
  if (!finalized)
    PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_BASE);
  return MPI_ERR_BASE;
}

RGI_INTERCEPT_BOTH(Alloc_mem);
RGI_INTERCEPT_BOTH(Free_mem);
