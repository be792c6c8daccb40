/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a batch must have changed. Each contender has an image of the last rank's areas, which is
 * changed as the areas are; the operands of each batch are different. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"
#include "windows.h"

static char text[128];

static int moves_data(const bench_windows_work *work) {
  return work->kind <= BENCH_WINDOWS_READ;
}

static int fetches(const bench_windows_work *work) {
  return work->kind == BENCH_WINDOWS_GET || work->kind == BENCH_WINDOWS_READ;
}

static int64_t areas(const bench_windows *windows) {
  return (int64_t)BENCH_WINDOWS_SPOTS * windows->target.area;
}

/* Small whole numbers, so that sums are exact. */
static double operand(int run, int spot, int i) {
  return 1 + bench_byte(run, spot, 0, i);
}

/* For the next batch: operands, or what no result looks like. */
static void prepare(bench_windows_work *work) {
  work->run++;
  for (int s = 0; s < BENCH_WINDOWS_SPOTS; s++)
    for (int i = 0; i < work->windows->origin.area; i++)
      work->windows->buffer[s][i] = fetches(work) ? -1 : operand(work->run, s, i);
}

const char *bench_windows_work_begin(bench_windows_work *work) {
  const bench_windows *w = work->windows;
  if (!moves_data(work))
    return NULL;
  work->image = malloc((size_t)areas(w) * sizeof *work->image);
  if (!work->image)
    return "no memory for what is to be found";
  for (int64_t i = 0; i < areas(w); i++)
    work->image[i] = w->scratch[i] = operand(-1 - (int)work->store, 0, (int)i);
  bench_windows_write(w, work->store);
  prepare(work);
  return NULL;
}

void bench_windows_work_end(bench_windows_work *work) {
  free(work->image);
}

/* --- what is right -------------------------------------------------------------------------- */

static int times(const bench_windows_work *work, int spot) {
  return (work->batch + BENCH_WINDOWS_SPOTS - 1 - spot) / BENCH_WINDOWS_SPOTS;
}

/* The image of one spot after the batch. */
static void follow(bench_windows_work *work, int spot) {
  const bench_windows_patch *o = &work->windows->origin, *t = &work->windows->target;
  double *there = work->image + (int64_t)spot * t->area + t->first;
  const double *here = work->windows->buffer[spot] + o->first;
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->columns; j++) {
      double x = here[(int64_t)i * o->ld + j], *y = &there[(int64_t)i * t->ld + j];
      *y = work->kind == BENCH_WINDOWS_SUM ? *y + times(work, spot) * x : x;
    }
}

/* The buffer has what the image has, and around it what it had. */
static int is_fetched(const bench_windows_work *work, int spot) {
  const bench_windows_patch *o = &work->windows->origin, *t = &work->windows->target;
  const double *there = work->image + (int64_t)spot * t->area + t->first;
  double *here = work->windows->buffer[spot] + o->first;
  int good = 1;
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->columns; j++) {
      good = good && here[(int64_t)i * o->ld + j] == there[(int64_t)i * t->ld + j];
      here[(int64_t)i * o->ld + j] = -1;
    }
  for (int i = 0; i < o->area; i++)
    good = good && work->windows->buffer[spot][i] == -1;
  return good;
}

static const char *check_data(bench_windows_work *work) {
  const bench_windows *w = work->windows;
  int64_t at = 0;
  for (int s = 0; s < BENCH_WINDOWS_SPOTS; s++) {
    if (times(work, s) == 0)
      continue;
    if (!fetches(work))
      follow(work, s);
    else if (!is_fetched(work, s)) {
      snprintf(text, sizeof text, "wrong result: what was read into buffer %d", s);
      return text;
    }
  }
  bench_windows_read(w, work->store);
  while (at < areas(w) && w->scratch[at] == work->image[at])
    at++;
  if (at < areas(w)) {
    snprintf(text, sizeof text, "wrong result: element %lld is %.17g, not %.17g", (long long)at,
             w->scratch[at], work->image[at]);
    return text;
  }
  return NULL;
}

static const char *check_counter(bench_windows_work *work) {
  int64_t before = work->count;
  work->count += work->batch;
  if (work->kind == BENCH_WINDOWS_SWAP && work->wrong_swap)
    return "wrong result: another value was there";
  if (work->kind == BENCH_WINDOWS_FETCH && work->seen != before + work->batch - 1) {
    snprintf(text, sizeof text, "wrong result: the counter was %lld, not %lld",
             (long long)work->seen, (long long)(work->count - 1));
    return text;
  }
  return NULL;
}

const char *bench_windows_check(void *context) {
  bench_windows_work *k = context;
  const char *wrong = NULL;
  if (moves_data(k))
    wrong = check_data(k);
  else if (k->kind == BENCH_WINDOWS_FETCH || k->kind == BENCH_WINDOWS_SWAP)
    wrong = check_counter(k);
  if (moves_data(k))
    prepare(k);
  return wrong;
}
