/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Put, get and accumulate on another rank's block, by rank 0 or by all; read-increment
 * by all ranks on one element. */
#include <ga.h>
#include <macdecls.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define SMALL 1000
#define INCREMENTS 2000

/* --- what they work on ------------------------------------------------------------ */

static int begin_arrays(ga_work *w) {
  rg_array_spec spec = {.size = sizeof spec};
  int64_t shape[2] = {(int64_t)BLOCK_ROWS * w->ranks, COLUMNS}, lo[2], hi[2], ld[1];
  int dims[2] = {BLOCK_ROWS * w->ranks, COLUMNS}, chunk[2] = {BLOCK_ROWS, COLUMNS};
  if (rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, shape))
    return 0;
  spec.grid[0] = w->ranks;
  spec.grid[1] = 1;
  if (rg_array_create(w->world, &spec, &w->a) || rg_array_zero(w->a))
    return 0;
  w->ga = ga_array(C_DBL, 2, dims, chunk);
  GA_Zero(w->ga);
  lo[0] = (int64_t)BLOCK_ROWS * w->target;
  lo[1] = 0;
  hi[0] = lo[0] + BLOCK_ROWS;
  hi[1] = COLUMNS;
  if (rg_array_access(w->a, lo, hi, RG_ACCESS_READ_WRITE, &w->block, ld))
    return 0;
  w->ld = (long)ld[0];
  for (int i = 0; i < BUFFERS; i++) {
    w->buffer[i] = calloc((size_t)w->what->rows * (size_t)w->what->columns, sizeof(double));
    if (!w->buffer[i])
      return 0;
  }
  return 1;
}

static void end_arrays(ga_work *w) {
  rg_array_free(&w->a);
  GA_Destroy(w->ga);
  for (int i = 0; i < BUFFERS; i++)
    free(w->buffer[i]);
}

/* The spot's first row and column in the target's block: patches of different
 * spots do not overlap. */
static void spot(const ga_work *w, int turn, int at[2]) {
  int s = turn % SPOTS;
  if (w->what->columns == COLUMNS) {
    at[0] = s * w->what->rows;
    at[1] = 0;
  } else {
    at[0] = s / 4 * 512;
    at[1] = s % 4 * 512;
  }
}

static void patch_of(const ga_work *w, int turn, int64_t lo[2], int64_t hi[2]) {
  int at[2];
  spot(w, turn, at);
  lo[0] = (int64_t)BLOCK_ROWS * w->target + at[0];
  lo[1] = at[1];
  hi[0] = lo[0] + w->what->rows;
  hi[1] = lo[1] + w->what->columns;
}

/* Global Arrays' upper bounds are inside the patch. */
static void ga_patch_of(const ga_work *w, int turn, int lo[2], int hi[2], int ld[1]) {
  int at[2];
  spot(w, turn, at);
  lo[0] = BLOCK_ROWS * w->target + at[0];
  lo[1] = at[1];
  hi[0] = lo[0] + w->what->rows - 1;
  hi[1] = lo[1] + w->what->columns - 1;
  ld[0] = w->what->columns;
}

static double *memory_of(const ga_work *w, int turn) {
  int at[2];
  spot(w, turn, at);
  return w->block + (long)at[0] * w->ld + at[1];
}

static double *stamped(ga_work *w, int turn) {
  double *b = w->buffer[turn % BUFFERS];
  b[0] = turn;
  b[(long)w->what->rows * w->what->columns - 1] = turn;
  return b;
}

/* --- put ---------------------------------------------------------------------------- */

static const char *put_ours(void *work) {
  ga_work *w = work;
  int64_t lo[2], hi[2];
  for (int i = 0; i < w->what->batch; i++) {
    int turn = ++w->turn[OURS];
    patch_of(w, turn, lo, hi);
    if (rg_array_put(w->a, lo, hi, stamped(w, turn), NULL))
      return rg_error_detail();
  }
  return NULL;
}

static const char *put_theirs(void *work) {
  ga_work *w = work;
  int lo[2], hi[2], ld[1];
  for (int i = 0; i < w->what->batch; i++) {
    int turn = ++w->turn[THEIRS];
    ga_patch_of(w, turn, lo, hi, ld);
    NGA_Put(w->ga, lo, hi, stamped(w, turn), ld);
  }
  return NULL;
}

static const char *put_memory(void *work) {
  ga_work *w = work;
  for (int i = 0; i < w->what->batch; i++) {
    int turn = ++w->turn[MEMORY];
    double *to = memory_of(w, turn), *from = stamped(w, turn);
    if (w->what->columns == w->ld)
      memcpy(to, from, (size_t)w->what->rows * (size_t)w->ld * sizeof *to);
    else
      for (int r = 0; r < w->what->rows; r++)
        memcpy(to + r * w->ld, from + (long)r * w->what->columns,
               (size_t)w->what->columns * sizeof *to);
  }
  return NULL;
}

/* --- get ---------------------------------------------------------------------------- */

static const char *get_ours(void *work) {
  ga_work *w = work;
  int64_t lo[2], hi[2];
  for (int i = 0; i < w->what->batch; i++) {
    int turn = ++w->turn[OURS];
    patch_of(w, turn, lo, hi);
    if (rg_array_get(w->a, lo, hi, w->buffer[turn % BUFFERS], NULL))
      return rg_error_detail();
  }
  return NULL;
}

static const char *get_theirs(void *work) {
  ga_work *w = work;
  int lo[2], hi[2], ld[1];
  for (int i = 0; i < w->what->batch; i++) {
    int turn = ++w->turn[THEIRS];
    ga_patch_of(w, turn, lo, hi, ld);
    NGA_Get(w->ga, lo, hi, w->buffer[turn % BUFFERS], ld);
  }
  return NULL;
}

static const char *get_memory(void *work) {
  ga_work *w = work;
  for (int i = 0; i < w->what->batch; i++) {
    int turn = ++w->turn[MEMORY];
    double *from = memory_of(w, turn), *to = w->buffer[turn % BUFFERS];
    if (w->what->columns == w->ld)
      memcpy(to, from, (size_t)w->what->rows * (size_t)w->ld * sizeof *to);
    else
      for (int r = 0; r < w->what->rows; r++)
        memcpy(to + (long)r * w->what->columns, from + r * w->ld,
               (size_t)w->what->columns * sizeof *to);
  }
  return NULL;
}

/* --- accumulate ------------------------------------------------------------------------ */

static const char *acc_ours(void *work) {
  ga_work *w = work;
  double one = 1;
  int64_t lo[2], hi[2];
  for (int i = 0; i < w->what->batch; i++) {
    int turn = ++w->turn[OURS];
    patch_of(w, turn, lo, hi);
    if (rg_array_acc(w->a, lo, hi, w->buffer[turn % BUFFERS], NULL, &one))
      return rg_error_detail();
  }
  return NULL;
}

static const char *acc_theirs(void *work) {
  ga_work *w = work;
  double one = 1;
  int lo[2], hi[2], ld[1];
  for (int i = 0; i < w->what->batch; i++) {
    int turn = ++w->turn[THEIRS];
    ga_patch_of(w, turn, lo, hi, ld);
    NGA_Acc(w->ga, lo, hi, w->buffer[turn % BUFFERS], ld, &one);
  }
  return NULL;
}

static void add_row(double *restrict to, const double *restrict from, int n) {
  for (int i = 0; i < n; i++)
    to[i] += from[i];
}

static const char *acc_memory(void *work) {
  ga_work *w = work;
  for (int i = 0; i < w->what->batch; i++) {
    int turn = ++w->turn[MEMORY];
    double *to = memory_of(w, turn), *from = w->buffer[turn % BUFFERS];
    for (int r = 0; r < w->what->rows; r++)
      add_row(to + r * w->ld, from + (long)r * w->what->columns, w->what->columns);
  }
  return NULL;
}

static int begin_acc(ga_work *w) {
  if (!begin_arrays(w))
    return 0;
  for (int i = 0; i < BUFFERS; i++)
    for (long k = 0; k < (long)w->what->rows * w->what->columns; k++)
      w->buffer[i][k] = 1;
  return 1;
}

/* --- the results -------------------------------------------------------------------------- */

/* The first and the last element of the patch of the last turn, read one by one. */
static int ends_ours(ga_work *w, int turn, double ends[2]) {
  int64_t lo[2], hi[2], one[2], past[2];
  patch_of(w, turn, lo, hi);
  for (int i = 0; i < 2; i++) {
    for (int d = 0; d < 2; d++) {
      one[d] = i ? hi[d] - 1 : lo[d];
      past[d] = one[d] + 1;
    }
    if (rg_array_get(w->a, one, past, &ends[i], NULL))
      return 0;
  }
  return 1;
}

static void ends_theirs(ga_work *w, int turn, double ends[2]) {
  int lo[2], hi[2], ld[1];
  ga_patch_of(w, turn, lo, hi, ld);
  NGA_Get(w->ga, lo, lo, &ends[0], ld);
  NGA_Get(w->ga, hi, hi, &ends[1], ld);
}

static const char *verdict(const double ends[2], double expected) {
  return ends[0] == expected && ends[1] == expected ? NULL : "the result is wrong";
}

static const char *put_right(void *work) {
  ga_work *w = work;
  double ends[2];
  return ends_ours(w, w->turn[OURS], ends) ? verdict(ends, w->turn[OURS]) : rg_error_detail();
}

static const char *put_right_theirs(void *work) {
  ga_work *w = work;
  double ends[2];
  GA_Init_fence();
  GA_Fence();
  ends_theirs(w, w->turn[THEIRS], ends);
  return verdict(ends, w->turn[THEIRS]);
}

/* What is there was 0 at the start and is what was got. */
static const char *get_right(void *work) {
  ga_work *w = work;
  double *b = w->buffer[w->turn[OURS] % BUFFERS], ends[2];
  if (!ends_ours(w, w->turn[OURS], ends))
    return rg_error_detail();
  return b[0] == ends[0] && b[(long)w->what->rows * w->what->columns - 1] == ends[1]
             ? NULL
             : "the result is wrong";
}

static const char *get_right_theirs(void *work) {
  ga_work *w = work;
  double *b = w->buffer[w->turn[THEIRS] % BUFFERS], ends[2];
  ends_theirs(w, w->turn[THEIRS], ends);
  return b[0] == ends[0] && b[(long)w->what->rows * w->what->columns - 1] == ends[1]
             ? NULL
             : "the result is wrong";
}

/* So often has the spot of the last turn been added to. Turns count from 1. */
static double times(int turn) {
  return (turn - turn % SPOTS) / SPOTS + (turn % SPOTS ? 1 : 0);
}

/* The memory's contender adds to our array too. */
static double times_ours(const ga_work *w, int spot_turn) {
  int spot_number = spot_turn % SPOTS;
  double n = 0;
  for (int who = OURS; who < CONTENDERS; who += MEMORY - OURS)
    for (int t = w->turn[who]; t > 0 && t > w->turn[who] - SPOTS; t--)
      if (t % SPOTS == spot_number)
        n += times(t);
  return n;
}

static const char *acc_right(void *work) {
  ga_work *w = work;
  double ends[2];
  if (!ends_ours(w, w->turn[OURS], ends))
    return rg_error_detail();
  return verdict(ends, times_ours(w, w->turn[OURS]));
}

static const char *acc_right_theirs(void *work) {
  ga_work *w = work;
  double ends[2];
  GA_Init_fence();
  GA_Fence();
  ends_theirs(w, w->turn[THEIRS], ends);
  return verdict(ends, times(w->turn[THEIRS]));
}

/* --- read-increment, all ranks at once ------------------------------------------------------ */

static int begin_counters(ga_work *w) {
  int64_t shape[1] = {w->ranks}, lo[1] = {w->ranks - 1}, hi[1] = {w->ranks};
  int dims[1] = {w->ranks}, chunk[1] = {1};
  if (rg_array_create_simple(w->world, RG_TYPE_INT64, 1, shape, &w->a) || rg_array_zero(w->a) ||
      rg_array_create_simple(w->world, RG_TYPE_INT64, 1, shape, &w->b) || rg_array_zero(w->b) ||
      rg_array_access(w->b, lo, hi, RG_ACCESS_READ_WRITE, &w->block, NULL))
    return 0;
  w->ga = ga_array(C_LONG, 1, dims, chunk);
  GA_Zero(w->ga);
  return 1;
}

static void end_counters(ga_work *w) {
  rg_array_free(&w->a);
  rg_array_free(&w->b);
  GA_Destroy(w->ga);
}

static const char *increment_ours(void *work) {
  ga_work *w = work;
  int64_t at[1] = {w->ranks - 1}, before, last = -1;
  for (int i = 0; i < INCREMENTS; i++) {
    if (rg_array_read_inc(w->a, at, 1, &before))
      return rg_error_detail();
    if (before <= last)
      return "numbers do not grow";
    last = before;
  }
  return NULL;
}

static const char *increment_theirs(void *work) {
  ga_work *w = work;
  int at[1] = {w->ranks - 1};
  long last = -1;
  for (int i = 0; i < INCREMENTS; i++) {
    long before = NGA_Read_inc(w->ga, at, 1);
    if (before <= last)
      return "numbers do not grow";
    last = before;
  }
  return NULL;
}

static const char *increment_memory(void *work) {
  ga_work *w = work;
  _Atomic int64_t *counter = (void *)w->block;
  int64_t last = -1;
  for (int i = 0; i < INCREMENTS; i++) {
    int64_t before = atomic_fetch_add(counter, 1);
    if (before <= last)
      return "numbers do not grow";
    last = before;
  }
  return NULL;
}

#define PATCH(name, verb, size, rows, columns, batch, begin)                                       \
  {                                                                                                \
    name, size, rows, columns, batch, 0, 0, begin, end_arrays,                                     \
        {verb##_ours, verb##_theirs, verb##_memory}, {                                             \
      verb##_right, verb##_right_theirs, NULL                                                      \
    }                                                                                              \
  }
#define SIZES(name, verb, begin)                                                                   \
  PATCH(name, verb, "8 B", 1, 1, SMALL, begin), PATCH(name, verb, "64x64", 64, 64, 100, begin),    \
      PATCH(name, verb, "512x512", 512, 512, 2, begin),                                            \
      PATCH(name, verb, "1 MiB", 64, COLUMNS, 4, begin)

const ga_case ga_patch_cases[] = {SIZES("put", put, begin_arrays),
                                  SIZES("get", get, begin_arrays),
                                  SIZES("accumulate", acc, begin_acc),
                                  {"read-increment",
                                   "8 B",
                                   1,
                                   1,
                                   INCREMENTS,
                                   1,
                                   0,
                                   begin_counters,
                                   end_counters,
                                   {increment_ours, increment_theirs, increment_memory},
                                   {NULL, NULL, NULL}},
                                  {.name = NULL}};
