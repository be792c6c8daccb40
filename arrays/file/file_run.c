/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The runs are found row by row across all blocks of the member: along the last dimension from
 * block to block, then the next row. A run ends where the file or the memory is not contiguous any
 * more. */
#include "file/file_run.h"

#include <string.h>

#include "distribution/distribution_owner.h"

void rgi_file_runs_start(rgi_file_runs *it, const rgi_distribution *layout, int rank) {
  it->d = layout;
  rgi_distribution_block(layout, rank, 0, it->first, it->end);
  it->more = 1;
  for (int k = 0; k < layout->dims; k++)
    it->more = it->more && it->first[k] < it->end[k];
  memcpy(it->at, it->first, sizeof it->at);
  memcpy(it->hi, it->end, sizeof it->hi);
}

/* Goes from the end of a block along dimension k to the member's next one, if there is one. */
static int next_block(rgi_file_runs *it, int k) {
  const rgi_distribution *layout = it->d;
  int64_t gap, left = layout->shape[k] - it->hi[k];
  if (layout->layout != RG_LAYOUT_BLOCK_CYCLIC ||
      __builtin_mul_overflow(layout->grid[k] - 1, layout->chunk[k], &gap) || left <= gap)
    return 0;
  it->at[k] = it->hi[k] + gap;
  it->hi[k] = left - gap < layout->chunk[k] ? layout->shape[k] : it->at[k] + layout->chunk[k];
  return 1;
}

/* Advances by n elements along the last dimension, at its end into the next row. */
static void advance_run(rgi_file_runs *it, int64_t n) {
  for (int k = it->d->dims - 1; k >= 0; k--) {
    it->at[k] += n;
    if (it->at[k] < it->hi[k] || next_block(it, k))
      return;
    it->at[k] = it->first[k];
    it->hi[k] = it->end[k];
    n = 1;
  }
  it->more = 0;
}

static rgi_file_run run_here(const rgi_file_runs *it) {
  int last = it->d->dims - 1;
  rgi_file_run run = {.n = it->hi[last] - it->at[last]};
  for (int k = 0; k <= last; k++)
    run.file = run.file * it->d->shape[k] + it->at[k];
  rgi_distribution_find(it->d, it->at, &run.memory);
  return run;
}

int rgi_file_runs_next(rgi_file_runs *it, int64_t most, rgi_file_run *run) {
  if (!it->more)
    return 0;
  *run = run_here(it);
  for (rgi_file_run more = *run;;) {
    int64_t room = most - (run->n - more.n);
    int64_t n = more.n < room ? more.n : room;
    run->n += n - more.n;
    advance_run(it, n);
    if (run->n == most || !it->more)
      return 1;
    more = run_here(it);
    if (more.file != run->file + run->n || more.memory != run->memory + run->n)
      return 1;
    run->n += more.n;
  }
}
