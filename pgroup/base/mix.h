/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Mixing the bits of a number: for hashes, contexts and keys. */
#ifndef RGI_MIX_H
#define RGI_MIX_H

#include <stdint.h>

/* The finaliser of splitmix64: each bit of x changes about half of the bits of the result. */
static inline uint64_t rgi_mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

#endif
