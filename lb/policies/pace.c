/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Times of a unit, measured at a few sizes of the group. Between two sizes the time is taken to be
 * a power of the size; beyond the largest it follows Amdahl's law through the last two. If there is
 * no room for another size, the point that its neighbours predict best is dropped. */
#include "policies/load.h"

#include <math.h>
#include <string.h>

int rgi_load_is_pace(const rg_pace *pace) {
  if (pace->count < 0 || pace->count > RG_PACE_SIZES)
    return 0;
  for (int i = 0; i < pace->count; i++)
    if (pace->ranks[i] <= (i ? pace->ranks[i - 1] : 0) || !(pace->seconds[i] > 0) ||
        isinf(pace->seconds[i]))
      return 0;
  return 1;
}

/* The time by a power of the size through the points i and j. */
static double power_at(const rg_pace *pace, int i, int j, int64_t ranks) {
  double slope = log(pace->seconds[j] / pace->seconds[i]) /
                 log((double)pace->ranks[j] / (double)pace->ranks[i]);
  return pace->seconds[i] * pow((double)ranks / (double)pace->ranks[i], slope);
}

/* The time beyond the last point: a + b / ranks through the last two. */
static double amdahl_at(const rg_pace *pace, int64_t ranks) {
  int last = pace->count - 1;
  double n0 = (double)pace->ranks[last - 1], n1 = (double)pace->ranks[last];
  double t0 = pace->seconds[last - 1], t1 = pace->seconds[last];
  double b = (t0 - t1) / (1 / n0 - 1 / n1), a = t1 - b / n1;
  if (b <= 0)
    return t1;
  return (a > 0 ? a : 0) + (a > 0 ? b : t1 * n1) / (double)ranks;
}

double rg_pace_at(const rg_pace *pace, int64_t ranks) {
  if (!pace || !rgi_load_is_pace(pace) || pace->count == 0 || ranks < 1)
    return RG_LOAD_UNKNOWN;
  int last = pace->count - 1, at = 0;
  if (ranks <= pace->ranks[0] || last == 0)
    return pace->seconds[0] * (double)pace->ranks[0] / (double)ranks;
  if (ranks > pace->ranks[last])
    return amdahl_at(pace, ranks);
  while (pace->ranks[at + 1] < ranks)
    at++;
  return power_at(pace, at, at + 1, ranks);
}

/* The inner point that its neighbours predict best. */
static int find_dispensable(const rg_pace *pace) {
  int best = 1;
  double least = INFINITY;
  for (int i = 1; i + 1 < pace->count; i++) {
    double error = fabs(log(power_at(pace, i - 1, i + 1, pace->ranks[i]) / pace->seconds[i]));
    if (error < least) {
      least = error;
      best = i;
    }
  }
  return best;
}

static void take_out(rg_pace *pace, int at) {
  size_t after = (size_t)(pace->count - at - 1);
  memmove(pace->ranks + at, pace->ranks + at + 1, after * sizeof *pace->ranks);
  memmove(pace->seconds + at, pace->seconds + at + 1, after * sizeof *pace->seconds);
  pace->count--;
}

/* Whether two sizes are so near that their times differ by chance more than by size. */
static int near_sizes(int64_t a, int64_t b) {
  return a == b || (2 * (double)a < 3 * (double)b && 2 * (double)b < 3 * (double)a);
}

static void put_in(rg_pace *pace, int at, int64_t ranks, double seconds) {
  size_t after = (size_t)(pace->count - at);
  memmove(pace->ranks + at + 1, pace->ranks + at, after * sizeof *pace->ranks);
  memmove(pace->seconds + at + 1, pace->seconds + at, after * sizeof *pace->seconds);
  pace->ranks[at] = ranks;
  pace->seconds[at] = seconds;
  pace->count++;
}

void rg_pace_note(rg_pace *pace, int64_t ranks, double seconds) {
  int at = 0;
  if (!pace || !rgi_load_is_pace(pace) || ranks < 1 || !(seconds > 0) || isinf(seconds))
    return;
  for (int i = 0; i < pace->count; i++) {
    if (pace->ranks[i] == ranks)
      pace->seconds[i] = (pace->seconds[i] + seconds) / 2;
    if (near_sizes(pace->ranks[i], ranks))
      return;
  }
  if (pace->count == RG_PACE_SIZES)
    take_out(pace, find_dispensable(pace));
  while (at < pace->count && pace->ranks[at] < ranks)
    at++;
  put_in(pace, at, ranks, seconds);
}
