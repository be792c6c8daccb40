/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"

/* The window: the counter, and from here on, well aligned, the doubles. */
#define FIRST 64

/* --- life --------------------------------------------------------------------------------- */

static int64_t block_length(const bench_arrays_work *w) {
  return (int64_t)w->n * BENCH_SPOTS;
}

static void patch(const bench_arrays_work *w, int turn, int64_t lo[1], int64_t hi[1]) {
  lo[0] = block_length(w) * (w->place->ranks - 1) + (int64_t)(turn % BENCH_SPOTS) * w->n;
  hi[0] = lo[0] + w->n;
}

/* Two counters for each rank: one for the library, one for loads and stores. */
static int make_arrays(bench_arrays_work *w) {
  int64_t length[1] = {block_length(w) * w->place->ranks}, counters[1] = {2 * w->place->ranks};
  w->at[0] = counters[0] - 2;
  int error = rg_array_create_simple(w->place->group, RG_TYPE_DOUBLE, 1, length, &w->array);
  if (!error)
    error = rg_array_create_simple(w->place->group, RG_TYPE_INT64, 1, counters, &w->counters);
  if (!error)
    error = rg_array_zero(w->array);
  if (!error)
    error = rg_array_zero(w->counters);
  return error ? error : rg_array_sync(w->counters);
}

/* On one node the target's memory is within reach. */
static int reach(bench_arrays_work *w) {
  int64_t lo[1] = {block_length(w) * (w->place->ranks - 1)}, hi[1] = {lo[0] + block_length(w)};
  int64_t at[1] = {2 * w->place->ranks - 1}, end[1] = {at[0] + 1};
  if (w->place->nodes > 1)
    return RG_SUCCESS;
  int error = rg_array_access(w->array, lo, hi, RG_ACCESS_READ_WRITE, &w->block, NULL);
  return error ? error
               : rg_array_access(w->counters, at, end, RG_ACCESS_READ_WRITE, &w->count, NULL);
}

static void make_window(bench_arrays_work *w) {
  MPI_Aint size = FIRST + (MPI_Aint)block_length(w) * (MPI_Aint)sizeof(double);
  char *base;
  MPI_Win_allocate((size + 63) / 64 * 64, 1, MPI_INFO_NULL, w->place->comm, &base, &w->window);
  MPI_Win_lock_all(0, w->window);
  memset(base, 0, (size_t)size);
  MPI_Win_sync(w->window);
  MPI_Barrier(w->place->comm);
}

const char *bench_arrays_begin(bench_arrays_work *w, const bench_place *place, int n) {
  *w = (bench_arrays_work){.place = place, .n = n, .window = MPI_WIN_NULL};
  for (int i = 0; i < BENCH_SPOTS; i++) {
    w->buffer[i] = calloc((size_t)n + 1, sizeof(double));
    if (!w->buffer[i])
      return "no memory for the buffers";
  }
  if (make_arrays(w) || reach(w))
    return rg_error_detail();
  make_window(w);
  return NULL;
}

void bench_arrays_end(bench_arrays_work *w) {
  if (w->window != MPI_WIN_NULL) {
    MPI_Win_unlock_all(w->window);
    MPI_Win_free(&w->window);
  }
  rg_array_free(&w->counters);
  rg_array_free(&w->array);
  for (int i = 0; i < BENCH_SPOTS; i++)
    free(w->buffer[i]);
}

/* --- the library's arrays -------------------------------------------------------------------- */

/* A fence makes put and accumulate complete at the target. */
static int fenced(bench_arrays_work *w, int error) {
  return error ? error : rg_array_fence(w->array);
}

static int by_array(bench_arrays_work *w, bench_array_op op, int turn, int64_t increment,
                    int64_t *before) {
  double *buffer = w->buffer[turn % BENCH_SPOTS];
  int64_t lo[1], hi[1];
  patch(w, turn, lo, hi);
  switch (op) {
  case BENCH_PUT:
    return fenced(w, rg_array_put(w->array, lo, hi, buffer, NULL));
  case BENCH_GET:
    return rg_array_get(w->array, lo, hi, buffer, NULL);
  case BENCH_ACC:
    return fenced(w, rg_array_acc(w->array, lo, hi, buffer, NULL, NULL));
  case BENCH_READ_INC:
    return rg_array_read_inc(w->counters, w->at, increment, before);
  default:
    return rg_array_sync(w->array);
  }
}

/* --- memory itself -----------------------------------------------------------------------------
 */

static int by_memory(bench_arrays_work *w, bench_array_op op, int turn, int64_t increment,
                     int64_t *before) {
  double *buffer = w->buffer[turn % BENCH_SPOTS];
  double *target = w->block + (int64_t)(turn % BENCH_SPOTS) * w->n;
  size_t bytes = (size_t)w->n * sizeof(double);
  if (op == BENCH_PUT)
    memcpy(target, buffer, bytes);
  else if (op == BENCH_GET)
    memcpy(buffer, target, bytes);
  else if (op == BENCH_ACC)
    for (int i = 0; i < w->n; i++)
      target[i] += buffer[i];
  else
    *before = atomic_fetch_add((_Atomic int64_t *)w->count, increment);
  return RG_SUCCESS;
}

/* --- MPI's window
 * --------------------------------------------------------------------------------- */

static int by_window(bench_arrays_work *w, bench_array_op op, int turn, int64_t increment,
                     int64_t *before) {
  double *buffer = w->buffer[turn % BENCH_SPOTS];
  int target = w->place->ranks - 1, n = w->n;
  MPI_Aint at = FIRST + (MPI_Aint)(turn % BENCH_SPOTS) * n * (MPI_Aint)sizeof(double);
  MPI_Datatype d = MPI_DOUBLE;
  if (op == BENCH_PUT)
    MPI_Put(buffer, n, d, target, at, n, d, w->window);
  else if (op == BENCH_GET)
    MPI_Get(buffer, n, d, target, at, n, d, w->window);
  else if (op == BENCH_ACC)
    MPI_Accumulate(buffer, n, d, target, at, n, d, MPI_SUM, w->window);
  else if (op == BENCH_READ_INC)
    MPI_Fetch_and_op(&increment, before, MPI_INT64_T, target, 0, MPI_SUM, w->window);
  if (op != BENCH_SYNC)
    return MPI_Win_flush(target, w->window);
  MPI_Win_flush_all(w->window);
  MPI_Barrier(w->place->comm);
  return MPI_Win_sync(w->window);
}

int bench_arrays_do(bench_arrays_work *w, bench_store store, bench_array_op op, int turn,
                    int64_t increment, int64_t *before) {
  static int (*const by[BENCH_STORES])(bench_arrays_work *, bench_array_op, int, int64_t,
                                       int64_t *) = {by_array, by_memory, by_window};
  return by[store](w, op, turn, increment, before);
}

/* Whether another rank has incremented since the increment that has read `last`. */
static int is_shared(int64_t last, int64_t before) {
  return last >= 0 && before != last + 1;
}

int bench_arrays_count(bench_arrays_work *w, bench_store store, int times, int64_t *shared) {
  _Atomic int64_t *count = (_Atomic int64_t *)w->count;
  int64_t last = -1, before = 0;
  int error = RG_SUCCESS;
  if (store == BENCH_MEMORY)
    for (int i = 0; i < times; i++, last = before) {
      before = atomic_fetch_add(count, 1);
      *shared += is_shared(last, before);
    }
  else if (store == BENCH_ARRAY)
    for (int i = 0; i < times && !error; i++, last = before) {
      error = rg_array_read_inc(w->counters, w->at, 1, &before);
      *shared += is_shared(last, before);
    }
  else
    for (int i = 0; i < times && !error; i++, last = before) {
      error = by_window(w, BENCH_READ_INC, 0, 1, &before);
      *shared += is_shared(last, before);
    }
  return error;
}
