/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "floor.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE 64

const char *const bench_floor_name[BENCH_FLOORS] = {"floor, sleeping", "floor, yielding"};

/* Every rank writes `arrived`; the waiting ranks read `ended`, which changes once in a round:
 * the two lie on cache lines of their own. */
typedef struct bench_floor_round {
  _Atomic uint32_t arrived;
  char pad[LINE - sizeof(uint32_t)];
  _Atomic uint32_t ended;
  char pad2[LINE - sizeof(uint32_t)];
} floor_round;

/* Counts the caller in. The last one to arrive opens the next round and ends this one. */
static int is_last(floor_round *round, int ranks, uint32_t now) {
  if (atomic_fetch_add(&round->arrived, 1) + 1 != (uint32_t)ranks)
    return 0;
  atomic_store(&round->arrived, 0);
  atomic_store(&round->ended, now + 1);
  return 1;
}

const char *bench_floor_sleep(void *context) {
  bench_floor *f = context;
  floor_round *r = f->round;
  for (int i = 0; i < f->batch; i++) {
    uint32_t now = atomic_load(&r->ended);
    if (is_last(r, f->ranks, now))
      syscall(SYS_futex, &r->ended, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    else
      while (atomic_load(&r->ended) == now)
        syscall(SYS_futex, &r->ended, FUTEX_WAIT, now, NULL, NULL, 0);
  }
  return NULL;
}

const char *bench_floor_yield(void *context) {
  bench_floor *f = context;
  floor_round *r = f->round;
  for (int i = 0; i < f->batch; i++) {
    uint32_t now = atomic_load(&r->ended);
    if (!is_last(r, f->ranks, now))
      while (atomic_load(&r->ended) == now)
        sched_yield();
  }
  return NULL;
}

static floor_round *map_file(int file) {
  void *memory = file < 0
                     ? MAP_FAILED
                     : mmap(NULL, sizeof(floor_round), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0)
    close(file);
  return memory == MAP_FAILED ? NULL : memory;
}

/* The first rank makes a file without a name; the others open it as its file. */
int bench_floor_begin(bench_floor *floor, MPI_Comm comm, int batch) {
  char path[64] = "";
  int rank, file = -1, mine, all, kept = -1;
  MPI_Comm_rank(comm, &rank);
  *floor = (bench_floor){.batch = batch};
  MPI_Comm_size(comm, &floor->ranks);
  if (rank == 0) {
    kept = memfd_create("regroup-bench", MFD_CLOEXEC);
    if (kept >= 0 && ftruncate(kept, sizeof(floor_round)) == 0)
      snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), kept);
  }
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, comm);
  if (path[0])
    file = open(path, O_RDWR | O_CLOEXEC);
  floor->round = map_file(file);
  mine = floor->round != NULL;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, comm);
  if (kept >= 0)
    close(kept);
  if (!all)
    bench_floor_end(floor);
  return all;
}

void bench_floor_end(bench_floor *floor) {
  if (floor->round)
    munmap(floor->round, sizeof(floor_round));
  floor->round = NULL;
}
