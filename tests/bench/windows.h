/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the contenders of regroup-bench rma work on: a window that MPI serves, one that the
 * library serves, and memory that is loaded and stored. Rank 0 accesses the last rank's part:
 * two counters and BENCH_WINDOWS_SPOTS areas of doubles, which are used in turn. What each part
 * must hold is known at any time. */
#ifndef BENCH_WINDOWS_H
#define BENCH_WINDOWS_H

#include <stdint.h>

#include "place.h"

#define BENCH_WINDOWS_SPOTS 4
#define BENCH_WINDOWS_SIDE 64 /* of a subarray */

typedef enum {
  BENCH_WINDOWS_MPI,
  BENCH_WINDOWS_SERVED,
  BENCH_WINDOWS_MEMORY,
  BENCH_WINDOWS_STORES
} bench_windows_store;

/* What is done, and on which elements. */
typedef enum {
  BENCH_WINDOWS_PUT,
  BENCH_WINDOWS_GET,
  BENCH_WINDOWS_SUM,     /* MPI_Accumulate with MPI_SUM */
  BENCH_WINDOWS_REPLACE, /* with MPI_REPLACE */
  BENCH_WINDOWS_READ,    /* MPI_Get_accumulate with MPI_NO_OP */
  BENCH_WINDOWS_FETCH,   /* MPI_Fetch_and_op with MPI_SUM */
  BENCH_WINDOWS_SWAP,    /* MPI_Compare_and_swap */
  BENCH_WINDOWS_FLUSH,   /* the four flushes, nothing being under way */
  BENCH_WINDOWS_FLUSH_ALL,
  BENCH_WINDOWS_FLUSH_LOCAL,
  BENCH_WINDOWS_FLUSH_LOCAL_ALL,
  BENCH_WINDOWS_ALLOC_MEM, /* MPI_Alloc_mem and MPI_Free_mem */
  BENCH_WINDOWS_CREATE,    /* by all members: these and MPI_Win_create, MPI_Win_free */
  BENCH_WINDOWS_ALLOCATE   /* by all members: MPI_Win_allocate, MPI_Win_free */
} bench_windows_kind;

typedef enum {
  BENCH_WINDOWS_NONE,
  BENCH_WINDOWS_DENSE,    /* doubles side by side */
  BENCH_WINDOWS_SUBARRAY, /* a square of doubles on both sides */
  BENCH_WINDOWS_NEW_TYPES /* the same; both types are made and freed each time */
} bench_windows_shape;

/* Where the elements are in an area. */
typedef struct {
  int rows, columns, ld, first, area; /* doubles */
} bench_windows_patch;

typedef struct {
  const bench_place *place;
  bench_windows_shape shape;
  bench_windows_patch origin, target;
  MPI_Datatype origin_type, target_type;
  int64_t bytes; /* of each part */
  MPI_Win window[BENCH_WINDOWS_STORES];
  char *reached; /* the last rank's part of the memory */
  double *buffer[BENCH_WINDOWS_SPOTS];
  double *scratch;
} bench_windows;

/* What one contender does again and again. */
typedef struct {
  bench_windows *windows;
  bench_windows_store store;
  bench_windows_kind kind;
  int batch;
  int run;          /* how many have been */
  int64_t count;    /* what its counter holds */
  double *image;    /* what its areas hold */
  int64_t seen;     /* the last result of FETCH or SWAP */
  int64_t old, new; /* what SWAP compares and stores */
  int wrong_swap;   /* one of its results was not `old` */
} bench_windows_work;

/* Members of the place call. n: doubles of a dense patch. Return NULL, or what is wrong. */
const char *bench_windows_begin(bench_windows *w, const bench_place *place,
                                bench_windows_shape shape, int n);
void bench_windows_end(bench_windows *w);

/* Rank 0 fills the last rank's part. */
const char *bench_windows_work_begin(bench_windows_work *k);
void bench_windows_work_end(bench_windows_work *k);

/* A batch, as contenders run it: context is a bench_windows_work. Each operation is complete at its
 * target. The check looks at all that the batch may have changed, and prepares the next one. */
const char *bench_windows_run(void *context);
const char *bench_windows_check(void *context);

/* Between the last rank's areas, all of them, and scratch. */
void bench_windows_read(const bench_windows *w, bench_windows_store store);
void bench_windows_write(const bench_windows *w, bench_windows_store store);

/* Whether the library serves the window that it is to serve. */
int bench_windows_served(const bench_windows *w);

#endif
