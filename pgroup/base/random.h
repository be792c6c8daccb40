/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The steps of rg_random's definition (include/regroup/random.h) that follow Philox. */
#ifndef RGI_RANDOM_H
#define RGI_RANDOM_H

#include <stdint.h>

/* The uniform number of a word, in (0, 1). The sum of the greatest words rounds to 2^53. */
static inline double rgi_random_unit(uint64_t word) {
  double x = ((double)(word >> 11) + 0.5) * 0x1p-53;
  return x < 1 ? x : 1 - 0x1p-53;
}

/* The integer below n of a word, n > 0. Returns whether the word counts: of all 2^64 words, the
 * same number does for each integer. */
static inline int rgi_random_below(uint64_t n, uint64_t word, uint64_t *integer) {
  unsigned __int128 product = (unsigned __int128)n * word;
  *integer = (uint64_t)(product >> 64);
  return (uint64_t)product >= -n % n; /* -n mod n is 2^64 mod n */
}

#endif
