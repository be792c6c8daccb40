/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the contenders of regroup-bench arrays work on: a vector with a block on each
 * rank, as an array of the library, as memory that is loaded and stored, and as an MPI
 * window; and a counter in each. The target is the last rank's block. */
#ifndef BENCH_ARRAYS_H
#define BENCH_ARRAYS_H

#include <stdint.h>

#include "place.h"

#define BENCH_SPOTS 4 /* places in the block, and buffers, that are used in turn */

typedef enum {
  BENCH_PUT,
  BENCH_GET,
  BENCH_ACC,
  BENCH_READ_INC,
  BENCH_SYNC,
  BENCH_ARRAY_OPS
} bench_array_op;

typedef enum { BENCH_ARRAY, BENCH_MEMORY, BENCH_WINDOW, BENCH_STORES } bench_store;

typedef struct {
  const bench_place *place;
  int n; /* doubles of a patch */
  rg_array array, counters;
  MPI_Win window; /* the counter is its first element */
  double *block;  /* the target's part of the array, and its counter, where they are */
  int64_t *count; /*   reachable by loads and stores; else NULL */
  int64_t at[1];  /* where the library's counter is */
  double *buffer[BENCH_SPOTS];
} bench_arrays_work;

/* Members of the place call; n doubles are a patch. Returns NULL, or what is wrong. */
const char *bench_arrays_begin(bench_arrays_work *w, const bench_place *place, int n);
void bench_arrays_end(bench_arrays_work *w);

/* Does it once, complete at the target when it returns: buffer turn % BENCH_SPOTS to or
 * from the spot of the same number. READ_INC adds `increment` and sets *before; sync is
 * called by all members, the others by any. A store does all but sync of memory.
 * Returns an error code. */
int bench_arrays_do(bench_arrays_work *w, bench_store store, bench_array_op op, int turn,
                    int64_t increment, int64_t *before);

/* READ_INC so many times in a row, by 1, with nothing between two of them: what a store takes for
 * one is shorter than the choice that bench_arrays_do makes. *shared grows by those that another
 * rank's came before, since the one before in this call. */
int bench_arrays_count(bench_arrays_work *w, bench_store store, int times, int64_t *shared);

#endif
