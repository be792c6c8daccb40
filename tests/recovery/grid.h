/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The array that steady.c and relief.c change round after round: its elements depend on nothing but
 * the number of rounds. */
#ifndef GRID_H
#define GRID_H

#include <regroup/array.h>
#include <regroup/array_math.h>
#include <regroup/array_regroup.h>

#include "ranks.h"

#define ROWS 24
#define COLUMNS 30

static inline int grid_make(rg_group g, rg_array *a) {
  const int64_t shape[2] = {ROWS, COLUMNS};
  rg_array_spec spec = {.size = sizeof spec};
  rg_array_spec_set(&spec, RG_TYPE_INT64, 2, shape);
  spec.flags = RG_ARRAY_MIRRORED; /* for several nodes */
  TRY(rg_array_create(g, &spec, a));
  TRY(rg_array_zero(*a));
  return survivable(rg_array_sync(*a), "rg_array_sync");
}

/* Each member changes its own part, and reads its neighbours' elements, on other nodes too. */
static inline int grid_change(rg_group g, rg_array from, rg_array to) {
  int64_t lo[2], hi[2], row[COLUMNS], *own, ld;
  TRY(rg_array_distribution(to, rank_in(g), lo, hi));
  if (lo[0] < hi[0] && lo[1] < hi[1]) {
    TRY(rg_array_access(to, lo, hi, RG_ACCESS_WRITE, (void *)&own, &ld));
    for (int64_t i = lo[0]; i < hi[0]; i++) {
      const int64_t at[2] = {(i + 1) % ROWS, 0}, end[2] = {(i + 1) % ROWS + 1, COLUMNS};
      TRY(rg_array_get(from, at, end, row, NULL));
      for (int64_t k = lo[1]; k < hi[1]; k++)
        own[(i - lo[0]) * ld + k - lo[1]] = (int64_t)mix((uint64_t)row[(k + 1) % COLUMNS] +
                                                         (uint64_t)(i * COLUMNS + k + round_now));
    }
    TRY(rg_array_release(to, lo, hi));
  }
  return survivable(rg_array_sync(to), "rg_array_sync");
}

/* On g, its survivors: where all members that had a copy of some elements have died, the program
 * ends with a line. */
static inline int grid_recover(rg_group g, rg_array *a) {
  int error = rg_array_recover(g, a);
  if (error == RG_ERR_ARRAY && strstr(rg_error_detail(), "are lost")) {
    fprintf(stderr, "LOST: %s\n", rg_error_detail());
    exit(4);
  }
  return survivable(error, "rg_array_recover");
}

/* The first array, on the members that survive its creation. */
static inline void grid_begin(rg_group *g, rg_array *a) {
  while (!is_done(g, grid_make(*g, a)))
    rg_array_free(a);
}

#endif
