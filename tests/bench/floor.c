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

/* What is waited for changes once for each meeting, and lies apart from what every
 * rank writes. */
typedef struct bench_meeting {
  _Atomic uint32_t come;
  char pad[LINE - sizeof(uint32_t)];
  _Atomic uint32_t over;
  char pad2[LINE - sizeof(uint32_t)];
} meeting;

/* Counts the caller in. The last one opens the next meeting and ends this one. */
static int am_last(meeting *m, int ranks, uint32_t now) {
  if (atomic_fetch_add(&m->come, 1) + 1 != (uint32_t)ranks)
    return 0;
  atomic_store(&m->come, 0);
  atomic_store(&m->over, now + 1);
  return 1;
}

const char *bench_floor_sleep(void *context) {
  bench_floor *f = context;
  meeting *m = f->meeting;
  for (int i = 0; i < f->batch; i++) {
    uint32_t now = atomic_load(&m->over);
    if (am_last(m, f->ranks, now))
      syscall(SYS_futex, &m->over, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    else
      while (atomic_load(&m->over) == now)
        syscall(SYS_futex, &m->over, FUTEX_WAIT, now, NULL, NULL, 0);
  }
  return NULL;
}

const char *bench_floor_yield(void *context) {
  bench_floor *f = context;
  meeting *m = f->meeting;
  for (int i = 0; i < f->batch; i++) {
    uint32_t now = atomic_load(&m->over);
    if (!am_last(m, f->ranks, now))
      while (atomic_load(&m->over) == now)
        sched_yield();
  }
  return NULL;
}

static meeting *map(int file) {
  void *memory = file < 0
                     ? MAP_FAILED
                     : mmap(NULL, sizeof(meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0)
    close(file);
  return memory == MAP_FAILED ? NULL : memory;
}

/* The first rank makes a file without a name; the others open it as its file. */
int bench_floor_begin(bench_floor *f, MPI_Comm comm, int batch) {
  char path[64] = "";
  int rank, file = -1, mine, all, kept = -1;
  MPI_Comm_rank(comm, &rank);
  *f = (bench_floor){.batch = batch};
  MPI_Comm_size(comm, &f->ranks);
  if (rank == 0) {
    kept = memfd_create("regroup-bench", MFD_CLOEXEC);
    if (kept >= 0 && ftruncate(kept, sizeof(meeting)) == 0)
      snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), kept);
  }
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, comm);
  if (path[0])
    file = open(path, O_RDWR | O_CLOEXEC);
  f->meeting = map(file);
  mine = f->meeting != NULL;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, comm);
  if (kept >= 0)
    close(kept);
  if (!all)
    bench_floor_end(f);
  return all;
}

void bench_floor_end(bench_floor *f) {
  if (f->meeting)
    munmap(f->meeting, sizeof(meeting));
  f->meeting = NULL;
}
