/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The least that any operation of all ranks can take where they outnumber the
 * processors: every rank is given a processor once. Each rank counts itself in
 * with one atomic addition, and the last one lets all go on; no data move. It uses
 * nothing of the library, and memory of its own. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <mpi.h>

/* It is measured in two ways, since neither is always the faster: the ranks that have arrived
 * sleep and are woken by one call to the kernel, or they give their processor to the others
 * until all have arrived. The floor is the lower of the two. */
typedef enum { BENCH_SLEEP, BENCH_YIELD, BENCH_FLOORS } bench_way;

/* "floor, sleeping" and "floor, yielding". */
extern const char *const bench_floor_name[BENCH_FLOORS];

typedef struct {
  struct bench_floor_round *round; /* in the shared memory */
  int ranks, batch;
} bench_floor;

/* For the ranks of comm, which are on one node. Collective. Returns 1, or 0 on all
 * ranks where memory cannot be shared. */
int bench_floor_begin(bench_floor *f, MPI_Comm comm, int batch);
void bench_floor_end(bench_floor *f);

/* A batch of it, as contenders run: context is a bench_floor. */
const char *bench_floor_sleep(void *context);
const char *bench_floor_yield(void *context);

#endif
