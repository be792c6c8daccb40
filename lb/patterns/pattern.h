/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Patterns of work: how many units each walker has. Only arithmetic, so that a simulation and a run
 * get the same. By name:
 *
 *   published       walker j has 10 (R mod 32) units, R = j times the group's size
 *   ascending       the longer the further to the right
 *   descending      the longer the further to the left
 *   random:SEED     evenly spread over 0 to twice the mean
 *   huge            the one in the middle has half of all work
 *   heavy-tail:SEED by Pareto's law with the exponent 1.2: the mean is far above
 *                   the median
 *   queue:SEED      five walkers for each group, evenly spread over 0 to twice the
 *                   mean, the longest first: more than there are groups
 *
 * SEED is 1 when it is not given. Walker j starts on group j; the others wait. */
#ifndef RGI_PATTERN_H
#define RGI_PATTERN_H

#include <stdint.h>

typedef struct {
  int64_t walkers;
  int64_t *units; /* of each walker */
  int64_t total;
} rgi_pattern;

/* The pattern for so many groups of `group` ranks. total: units of all walkers
 * together, exactly (each running sum is rounded); 0: for the published
 * pattern the published units, for the others 35 for each rank (3.5 s with
 * units of 100 ms). Errors: RG_ERR_ARG
 * (no such pattern; a seed that is no whole number; groups or group < 1, total < 0),
 * RG_ERR_NOMEM. */
int rgi_pattern_make(const char *name, int64_t groups, int64_t group, int64_t total,
                     rgi_pattern *pattern);

void rgi_pattern_free(rgi_pattern *pattern);

#endif
