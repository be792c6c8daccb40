/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each pattern is a weight for each walker, a function of the walker's number or of a seeded random
 * number; the weights are then scaled to the total and rounded so that the sum is exact. */
#include "patterns/pattern.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { PERIOD = 32, UNITS = 10, PER_RANK = 35, QUEUED = 5 };

typedef struct {
  int64_t walkers, group;
  uint64_t seed;
} pattern_setting;

/* Above 0 and at most 1. */
static double uniform_weight(const pattern_setting *setting, int64_t j) {
  philox2x64_ctr_t c = {{(uint64_t)j, 0}};
  philox2x64_key_t k = {{setting->seed}};
  return ((double)(philox2x64(c, k).v[0] >> 11) + 1) * 0x1p-53;
}

static double published_weight(const pattern_setting *setting, int64_t j) {
  return (double)(j % PERIOD * (setting->group % PERIOD) % PERIOD);
}

static double ascending_weight(const pattern_setting *setting, int64_t j) {
  (void)setting;
  return (double)(j + 1);
}

static double descending_weight(const pattern_setting *setting, int64_t j) {
  return (double)(setting->walkers - j);
}

static double huge_weight(const pattern_setting *setting, int64_t j) {
  return j == setting->walkers / 2 && setting->walkers > 1 ? (double)(setting->walkers - 1) : 1;
}

static double heavy_tail_weight(const pattern_setting *setting, int64_t j) {
  return pow(uniform_weight(setting, j), -1 / 1.2);
}

static const struct {
  const char *name;
  double (*weight)(const pattern_setting *s, int64_t j);
  int seeded, walkers; /* for each group */
} kinds[] = {{"published", published_weight, 0, 1},
             {"ascending", ascending_weight, 0, 1},
             {"descending", descending_weight, 0, 1},
             {"random", uniform_weight, 1, 1},
             {"huge", huge_weight, 0, 1},
             {"heavy-tail", heavy_tail_weight, 1, 1},
             {"queue", uniform_weight, 1, QUEUED}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int find_kind(const char *name, uint64_t *seed) {
  size_t length = strcspn(name, ":");
  int kind = 0;
  char *end = NULL;
  while (kind < KINDS &&
         (strlen(kinds[kind].name) != length || memcmp(kinds[kind].name, name, length)))
    kind++;
  *seed = 1;
  if (kind < KINDS && name[length]) {
    *seed = strtoull(name + length + 1, &end, 10);
    if (!kinds[kind].seeded || name[length + 1] < '0' || name[length + 1] > '9' || *end)
      return KINDS;
  }
  return kind;
}

static int64_t natural_total(const pattern_setting *setting, int kind, double weights,
                             int64_t groups) {
  return kind == 0 ? (int64_t)weights * UNITS : groups * setting->group * PER_RANK;
}

/* Makes whole numbers of the weights, with the sum `total`: each running sum is rounded. */
static void fill_units(const pattern_setting *setting, int kind, double weights,
                       rgi_pattern *pattern) {
  double sum = 0;
  int64_t given = 0;
  for (int64_t j = 0; j < pattern->walkers; j++) {
    sum += kinds[kind].weight(setting, j);
    int64_t upto = weights > 0 ? (int64_t)floor(sum / weights * (double)pattern->total + 0.5) : 0;
    pattern->units[j] = upto - given;
    given = upto;
  }
  pattern->total = given;
}

static int longest_first(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x < y) - (x > y);
}

int rgi_pattern_make(const char *name, int64_t groups, int64_t group, int64_t total,
                     rgi_pattern *pattern) {
  pattern_setting setting = {.group = group};
  int kind = find_kind(name, &setting.seed);
  double weights = 0;
  if (kind == KINDS)
    return rgi_error(RG_ERR_ARG,
                     "pattern %s: expected published, ascending, descending, random:SEED, huge, "
                     "heavy-tail:SEED or queue:SEED",
                     name);
  if (groups < 1 || group < 1 || total < 0)
    return rgi_error(RG_ERR_ARG, "pattern %s: %lld groups of %lld ranks, %lld units", name,
                     (long long)groups, (long long)group, (long long)total);
  setting.walkers = groups * kinds[kind].walkers;
  for (int64_t j = 0; j < setting.walkers; j++)
    weights += kinds[kind].weight(&setting, j);
  rgi_pattern made = {.walkers = setting.walkers,
                      .units = malloc((size_t)setting.walkers * sizeof *made.units),
                      .total = total ? total : natural_total(&setting, kind, weights, groups)};
  if (!made.units)
    return rgi_error(RG_ERR_NOMEM, "pattern %s: no memory for %lld walkers", name,
                     (long long)setting.walkers);
  fill_units(&setting, kind, weights, &made);
  if (kinds[kind].walkers > 1)
    qsort(made.units, (size_t)made.walkers, sizeof *made.units, longest_first);
  *pattern = made;
  return RG_SUCCESS;
}

void rgi_pattern_free(rgi_pattern *pattern) {
  free(pattern->units);
  *pattern = (rgi_pattern){0};
}
