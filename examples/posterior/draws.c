/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A list of numbers that grows. */
#include "draws.h"

#include <regroup/error.h>
#include <stdlib.h>
#include <string.h>

double *post_draws_add(post_draws *draws, int64_t numbers) {
  if (draws->used + numbers > draws->room) {
    int64_t room = 2 * draws->room + numbers + 4096;
    double *number = realloc(draws->number, (size_t)room * sizeof *number);
    if (!number)
      return NULL;
    draws->number = number;
    draws->room = room;
  }
  draws->used += numbers;
  return draws->number + draws->used - numbers;
}

void post_draws_free(post_draws *draws) {
  free(draws->number);
  memset(draws, 0, sizeof *draws);
}

static int by_walker_and_draw(const void *a, const void *b) {
  const double *x = a, *y = b;
  int at = x[0] == y[0];
  return (x[at] > y[at]) - (x[at] < y[at]);
}

int post_draws_sort(post_draws *draws, int64_t walkers, int64_t samples) {
  int64_t records = draws->used / draws->length;
  if (records != walkers * samples)
    return RG_ERR_MISMATCH;
  if (records > 0)
    qsort(draws->number, (size_t)records, (size_t)draws->length * sizeof *draws->number,
          by_walker_and_draw);
  for (int64_t i = 0; i < records; i++)
    if (draws->number[i * draws->length] != (double)(i / samples) ||
        draws->number[i * draws->length + 1] != (double)(i % samples))
      return RG_ERR_MISMATCH;
  return RG_SUCCESS;
}

uint64_t post_draws_checksum(const post_draws *draws) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (int64_t i = 0; i < draws->used; i++) {
    uint64_t bits;
    memcpy(&bits, &draws->number[i], sizeof bits);
    for (int byte = 0; byte < 64; byte += 8)
      hash = (hash ^ (bits >> byte & 0xff)) * UINT64_C(0x100000001b3);
  }
  return hash;
}
