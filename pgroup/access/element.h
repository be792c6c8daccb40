/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Atomic operations on numbers in memory that several processes use: accumulate, fetch-and-add,
 * compare-and-swap. They are atomic with one another, whichever process of the node makes them,
 * and sequentially consistent. Elements are aligned to their size. */
#ifndef RGI_ELEMENT_H
#define RGI_ELEMENT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Their values stand in messages (noded/server/query.h). */
typedef enum {
  RGI_ELEMENT_INT32,
  RGI_ELEMENT_INT64,
  RGI_ELEMENT_FLOAT,
  RGI_ELEMENT_DOUBLE
} rgi_element_type;

static inline size_t rgi_element_bytes(rgi_element_type type) {
  return type == RGI_ELEMENT_INT32 || type == RGI_ELEMENT_FLOAT ? 4 : 8;
}

/* to[i] += from[i] for n elements, one atomic operation for each. Integers wrap around; `from` need
 * not be aligned. */
void rgi_element_accumulate(rgi_element_type type, void *to, const void *from, uint64_t n);

/* *at += increment; returns what *at was. Integers only: RGI_ELEMENT_INT32 or RGI_ELEMENT_INT64. */
static inline int64_t rgi_element_fetch_add(rgi_element_type type, void *at, int64_t increment) {
  return type == RGI_ELEMENT_INT32 ? atomic_fetch_add((_Atomic int32_t *)at, (int32_t)increment)
                                   : atomic_fetch_add((_Atomic int64_t *)at, increment);
}

/* *at = value if *at is `compare`; returns what *at was. Integers only. */
static inline int64_t rgi_element_compare_swap(rgi_element_type type, void *at, int64_t compare,
                                               int64_t value) {
  int32_t small = (int32_t)compare;
  if (type == RGI_ELEMENT_INT32) {
    atomic_compare_exchange_strong((_Atomic int32_t *)at, &small, (int32_t)value);
    return small;
  }
  atomic_compare_exchange_strong((_Atomic int64_t *)at, &compare, value);
  return compare;
}

#endif
