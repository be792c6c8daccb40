/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Neighbours in a ring of all ranks, and numbers to send between them. */
#ifndef RGT_RING_H
#define RGT_RING_H

#include "tests/check/check.h"

static inline int next_rank(void) {
  return (rgt_rank + 1) % rgt_size;
}

static inline int rank_before(void) {
  return (rgt_rank + rgt_size - 1) % rgt_size;
}

static inline void fill(int *data, int n, int seed) {
  for (int i = 0; i < n; i++)
    data[i] = seed + 7 * i;
}

static inline int wrong(const int *data, int n, int seed) {
  int count = 0;
  for (int i = 0; i < n; i++)
    count += data[i] != seed + 7 * i;
  return count;
}

#endif
