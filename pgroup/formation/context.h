/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Contexts: numbers of 64 bits that keep the messages and slots of groups apart.
 * Every member works its group's out for itself, without a message: from the
 * members, the tag, the kind of forming, and how many groups with the same three
 * it has formed before. */
#ifndef RGI_CONTEXT_H
#define RGI_CONTEXT_H

#include <stdint.h>

/* Mixes all bits (the finaliser of splitmix64). */
static inline uint64_t rgi_context_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* The context of the next group. Kind RGI_GROUP_WORLD always has the same. Any thread.
 * RG_ERR_NOMEM. What is kept for it, 16 bytes for each different (members, tag,
 * kind), stays until the library
 * is started again. */
int rgi_context_next(uint64_t members, int kind, int tag, uint64_t *context);

#endif
