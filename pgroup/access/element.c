/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reals are added by compare-and-swap on the integer that has the same bits. */
#include "access/element.h"

#include <stdatomic.h>
#include <string.h>

/* n elements; `from` need not be aligned, and integers wrap around. */
#define ADD_INTEGERS(bits)                                                                         \
  static void add_int##bits(char *to, const char *from, uint64_t n) {                              \
    for (uint64_t i = 0; i < n; i++) {                                                             \
      uint##bits##_t more;                                                                         \
      memcpy(&more, from + i * sizeof more, sizeof more);                                          \
      atomic_fetch_add((_Atomic uint##bits##_t *)(void *)to + i, more);                            \
    }                                                                                              \
  }

#define ADD_REALS(real, bits)                                                                      \
  static void add_##real(char *to, const char *from, uint64_t n) {                                 \
    for (uint64_t i = 0; i < n; i++) {                                                             \
      _Atomic uint##bits##_t *at = (_Atomic uint##bits##_t *)(void *)to + i;                       \
      uint##bits##_t was = atomic_load_explicit(at, memory_order_relaxed), next;                   \
      real more, sum;                                                                              \
      memcpy(&more, from + i * sizeof more, sizeof more);                                          \
      do {                                                                                         \
        memcpy(&sum, &was, sizeof sum);                                                            \
        sum += more;                                                                               \
        memcpy(&next, &sum, sizeof next);                                                          \
      } while (!atomic_compare_exchange_weak(at, &was, next));                                     \
    }                                                                                              \
  }

ADD_INTEGERS(32)
ADD_INTEGERS(64)
ADD_REALS(float, 32)
ADD_REALS(double, 64)

void rgi_element_add(rgi_element_type type, char *to, const char *from, uint64_t bytes) {
  if (type == RGI_ELEMENT_INT32)
    add_int32(to, from, bytes / 4);
  else if (type == RGI_ELEMENT_INT64)
    add_int64(to, from, bytes / 8);
  else if (type == RGI_ELEMENT_FLOAT)
    add_float(to, from, bytes / 4);
  else
    add_double(to, from, bytes / 8);
}

int64_t rgi_element_fetch_add(rgi_element_type type, char *at, int64_t value) {
  return type == RGI_ELEMENT_INT32 ? atomic_fetch_add((_Atomic int32_t *)(void *)at, (int32_t)value)
                                   : atomic_fetch_add((_Atomic int64_t *)(void *)at, value);
}

int64_t rgi_element_compare_swap(rgi_element_type type, char *at, int64_t expected, int64_t value) {
  int32_t small = (int32_t)expected;
  int64_t large = expected;
  if (type == RGI_ELEMENT_INT32) {
    atomic_compare_exchange_strong((_Atomic int32_t *)(void *)at, &small, (int32_t)value);
    return small;
  }
  atomic_compare_exchange_strong((_Atomic int64_t *)(void *)at, &large, value);
  return large;
}
