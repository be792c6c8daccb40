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

static int moves_data(const bench_windows_work *k) {
  return k->kind <= BENCH_WINDOWS_READ;
}

static int fetches(const bench_windows_work *k) {
  return k->kind == BENCH_WINDOWS_GET || k->kind == BENCH_WINDOWS_READ;
}

static int64_t areas(const bench_windows *w) {
  return (int64_t)BENCH_WINDOWS_SPOTS * w->target.area;
}

/* Small whole numbers, so that sums are exact. */
static double operand(int run, int spot, int i) {
  return 1 + bench_byte(run, spot, 0, i);
}

/* For the next batch: operands, or what no result looks like. */
static void prepare(bench_windows_work *k) {
  k->run++;
  for (int s = 0; s < BENCH_WINDOWS_SPOTS; s++)
    for (int i = 0; i < k->windows->origin.area; i++)
      k->windows->buffer[s][i] = fetches(k) ? -1 : operand(k->run, s, i);
}

const char *bench_windows_work_begin(bench_windows_work *k) {
  const bench_windows *w = k->windows;
  if (!moves_data(k))
    return NULL;
  k->image = malloc((size_t)areas(w) * sizeof *k->image);
  if (!k->image)
    return "no memory for what is to be found";
  for (int64_t i = 0; i < areas(w); i++)
    k->image[i] = w->scratch[i] = operand(-1 - (int)k->store, 0, (int)i);
  bench_windows_write(w, k->store);
  prepare(k);
  return NULL;
}

void bench_windows_work_end(bench_windows_work *k) {
  free(k->image);
}

/* --- what is right -------------------------------------------------------------------------- */

static int times(const bench_windows_work *k, int spot) {
  return (k->batch + BENCH_WINDOWS_SPOTS - 1 - spot) / BENCH_WINDOWS_SPOTS;
}

/* The image of one spot after the batch. */
static void follow(bench_windows_work *k, int spot) {
  const bench_windows_patch *o = &k->windows->origin, *t = &k->windows->target;
  double *there = k->image + (int64_t)spot * t->area + t->first;
  const double *here = k->windows->buffer[spot] + o->first;
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->columns; j++) {
      double x = here[(int64_t)i * o->ld + j], *y = &there[(int64_t)i * t->ld + j];
      *y = k->kind == BENCH_WINDOWS_SUM ? *y + times(k, spot) * x : x;
    }
}

/* The buffer has what the image has, and around it what it had. */
static int is_fetched(const bench_windows_work *k, int spot) {
  const bench_windows_patch *o = &k->windows->origin, *t = &k->windows->target;
  const double *there = k->image + (int64_t)spot * t->area + t->first;
  double *here = k->windows->buffer[spot] + o->first;
  int good = 1;
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->columns; j++) {
      good = good && here[(int64_t)i * o->ld + j] == there[(int64_t)i * t->ld + j];
      here[(int64_t)i * o->ld + j] = -1;
    }
  for (int i = 0; i < o->area; i++)
    good = good && k->windows->buffer[spot][i] == -1;
  return good;
}

static const char *check_data(bench_windows_work *k) {
  const bench_windows *w = k->windows;
  int64_t at = 0;
  for (int s = 0; s < BENCH_WINDOWS_SPOTS; s++) {
    if (times(k, s) == 0)
      continue;
    if (!fetches(k))
      follow(k, s);
    else if (!is_fetched(k, s)) {
      snprintf(text, sizeof text, "wrong result: what was read into buffer %d", s);
      return text;
    }
  }
  bench_windows_read(w, k->store);
  while (at < areas(w) && w->scratch[at] == k->image[at])
    at++;
  if (at < areas(w)) {
    snprintf(text, sizeof text, "wrong result: element %lld is %.17g, not %.17g", (long long)at,
             w->scratch[at], k->image[at]);
    return text;
  }
  return NULL;
}

static const char *check_counter(bench_windows_work *k) {
  int64_t before = k->count;
  k->count += k->batch;
  if (k->kind == BENCH_WINDOWS_SWAP && k->wrong_swap)
    return "wrong result: another value was there";
  if (k->kind == BENCH_WINDOWS_FETCH && k->seen != before + k->batch - 1) {
    snprintf(text, sizeof text, "wrong result: the counter was %lld, not %lld", (long long)k->seen,
             (long long)(k->count - 1));
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
