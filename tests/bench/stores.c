/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"

/* The window: the counter, and from here on, well aligned, the doubles. */
#define FIRST 64

/* --- life --------------------------------------------------------------------------------- */

static int64_t block_length(const bench_arrays_work *work) {
  return (int64_t)work->n * BENCH_SPOTS;
}

static void patch(const bench_arrays_work *work, int turn, int64_t lo[1], int64_t hi[1]) {
  lo[0] = block_length(work) * (work->place->ranks - 1) + (int64_t)(turn % BENCH_SPOTS) * work->n;
  hi[0] = lo[0] + work->n;
}

/* Two counters for each rank: one for the library, one for loads and stores. */
static int make_arrays(bench_arrays_work *work) {
  int64_t length[1] = {block_length(work) * work->place->ranks},
          counters[1] = {2 * work->place->ranks};
  work->at[0] = counters[0] - 2;
  int error = rg_array_create_simple(work->place->group, RG_TYPE_DOUBLE, 1, length, &work->array);
  if (!error)
    error = rg_array_create_simple(work->place->group, RG_TYPE_INT64, 1, counters, &work->counters);
  if (!error)
    error = rg_array_zero(work->array);
  if (!error)
    error = rg_array_zero(work->counters);
  return error ? error : rg_array_sync(work->counters);
}

/* On one node the target's memory is within reach. */
static int reach(bench_arrays_work *work) {
  int64_t lo[1] = {block_length(work) * (work->place->ranks - 1)},
          hi[1] = {lo[0] + block_length(work)};
  int64_t at[1] = {2 * work->place->ranks - 1}, end[1] = {at[0] + 1};
  if (work->place->nodes > 1)
    return RG_SUCCESS;
  int error = rg_array_access(work->array, lo, hi, RG_ACCESS_READ_WRITE, &work->block, NULL);
  return error ? error
               : rg_array_access(work->counters, at, end, RG_ACCESS_READ_WRITE, &work->count, NULL);
}

static void make_window(bench_arrays_work *work) {
  MPI_Aint size = FIRST + (MPI_Aint)block_length(work) * (MPI_Aint)sizeof(double);
  char *base;
  MPI_Win_allocate((size + 63) / 64 * 64, 1, MPI_INFO_NULL, work->place->comm, &base,
                   &work->window);
  MPI_Win_lock_all(0, work->window);
  memset(base, 0, (size_t)size);
  MPI_Win_sync(work->window);
  MPI_Barrier(work->place->comm);
}

const char *bench_arrays_begin(bench_arrays_work *work, const bench_place *place, int n) {
  *work = (bench_arrays_work){.place = place, .n = n, .window = MPI_WIN_NULL};
  for (int i = 0; i < BENCH_SPOTS; i++) {
    work->buffer[i] = calloc((size_t)n + 1, sizeof(double));
    if (!work->buffer[i])
      return "no memory for the buffers";
  }
  if (make_arrays(work) || reach(work))
    return rg_error_detail();
  make_window(work);
  return NULL;
}

void bench_arrays_end(bench_arrays_work *work) {
  if (work->window != MPI_WIN_NULL) {
    MPI_Win_unlock_all(work->window);
    MPI_Win_free(&work->window);
  }
  rg_array_free(&work->counters);
  rg_array_free(&work->array);
  for (int i = 0; i < BENCH_SPOTS; i++)
    free(work->buffer[i]);
}

/* --- the library's arrays -------------------------------------------------------------------- */

/* A fence makes put and accumulate complete at the target. */
static int fenced(bench_arrays_work *work, int error) {
  return error ? error : rg_array_fence(work->array);
}

static int by_array(bench_arrays_work *work, bench_array_op op, int turn, int64_t increment,
                    int64_t *before) {
  double *buffer = work->buffer[turn % BENCH_SPOTS];
  int64_t lo[1], hi[1];
  patch(work, turn, lo, hi);
  switch (op) {
  case BENCH_PUT:
    return fenced(work, rg_array_put(work->array, lo, hi, buffer, NULL));
  case BENCH_GET:
    return rg_array_get(work->array, lo, hi, buffer, NULL);
  case BENCH_ACC:
    return fenced(work, rg_array_acc(work->array, lo, hi, buffer, NULL, NULL));
  case BENCH_READ_INC:
    return rg_array_read_inc(work->counters, work->at, increment, before);
  default:
    return rg_array_sync(work->array);
  }
}

/* --- memory itself ------------------------------------------------------------------------- */

static int by_memory(bench_arrays_work *work, bench_array_op op, int turn, int64_t increment,
                     int64_t *before) {
  double *buffer = work->buffer[turn % BENCH_SPOTS];
  double *target = work->block + (int64_t)(turn % BENCH_SPOTS) * work->n;
  size_t bytes = (size_t)work->n * sizeof(double);
  if (op == BENCH_PUT)
    memcpy(target, buffer, bytes);
  else if (op == BENCH_GET)
    memcpy(buffer, target, bytes);
  else if (op == BENCH_ACC)
    for (int i = 0; i < work->n; i++)
      target[i] += buffer[i];
  else
    *before = atomic_fetch_add((_Atomic int64_t *)work->count, increment);
  return RG_SUCCESS;
}

/* --- MPI's window -------------------------------------------------------------------------- */

static int by_window(bench_arrays_work *work, bench_array_op op, int turn, int64_t increment,
                     int64_t *before) {
  double *buffer = work->buffer[turn % BENCH_SPOTS];
  int target = work->place->ranks - 1, n = work->n;
  MPI_Aint at = FIRST + (MPI_Aint)(turn % BENCH_SPOTS) * n * (MPI_Aint)sizeof(double);
  MPI_Datatype d = MPI_DOUBLE;
  if (op == BENCH_PUT)
    MPI_Put(buffer, n, d, target, at, n, d, work->window);
  else if (op == BENCH_GET)
    MPI_Get(buffer, n, d, target, at, n, d, work->window);
  else if (op == BENCH_ACC)
    MPI_Accumulate(buffer, n, d, target, at, n, d, MPI_SUM, work->window);
  else if (op == BENCH_READ_INC)
    MPI_Fetch_and_op(&increment, before, MPI_INT64_T, target, 0, MPI_SUM, work->window);
  if (op != BENCH_SYNC)
    return MPI_Win_flush(target, work->window);
  MPI_Win_flush_all(work->window);
  MPI_Barrier(work->place->comm);
  return MPI_Win_sync(work->window);
}

int bench_arrays_do(bench_arrays_work *work, bench_store store, bench_array_op op, int turn,
                    int64_t increment, int64_t *before) {
  static int (*const by[BENCH_STORES])(bench_arrays_work *, bench_array_op, int, int64_t,
                                       int64_t *) = {by_array, by_memory, by_window};
  return by[store](work, op, turn, increment, before);
}

/* Whether another rank has incremented since the increment that has read `last`. */
static int is_shared(int64_t last, int64_t before) {
  return last >= 0 && before != last + 1;
}

int bench_arrays_count(bench_arrays_work *work, bench_store store, int times, int64_t *shared) {
  _Atomic int64_t *count = (_Atomic int64_t *)work->count;
  int64_t last = -1, before = 0;
  int error = RG_SUCCESS;
  if (store == BENCH_MEMORY)
    for (int i = 0; i < times; i++, last = before) {
      before = atomic_fetch_add(count, 1);
      *shared += is_shared(last, before);
    }
  else if (store == BENCH_ARRAY)
    for (int i = 0; i < times && !error; i++, last = before) {
      error = rg_array_read_inc(work->counters, work->at, 1, &before);
      *shared += is_shared(last, before);
    }
  else
    for (int i = 0; i < times && !error; i++, last = before) {
      error = by_window(work, BENCH_READ_INC, 0, 1, &before);
      *shared += is_shared(last, before);
    }
  return error;
}
