/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Accumulating. Processors add integers atomically; a sum of reals is stored by a compare-and-swap
 * of its bits, which is repeated when another process has changed the element meanwhile. */
#include "access/element.h"

#include <string.h>

#define ADD_INTEGERS(bits)                                                                         \
  static void add_int##bits(void *to, const char *from, uint64_t n) {                              \
    for (uint64_t i = 0; i < n; i++) {                                                             \
      uint##bits##_t more;                                                                         \
      memcpy(&more, from + i * sizeof more, sizeof more);                                          \
      atomic_fetch_add((_Atomic uint##bits##_t *)to + i, more);                                    \
    }                                                                                              \
  }

#define ADD_REALS(real, bits)                                                                      \
  static void add_##real(void *to, const char *from, uint64_t n) {                                 \
    for (uint64_t i = 0; i < n; i++) {                                                             \
      _Atomic uint##bits##_t *at = (_Atomic uint##bits##_t *)to + i;                               \
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

void rgi_element_accumulate(rgi_element_type type, void *to, const void *from, uint64_t n) {
  switch (type) {
  case RGI_ELEMENT_INT32:
    add_int32(to, from, n);
    break;
  case RGI_ELEMENT_INT64:
    add_int64(to, from, n);
    break;
  case RGI_ELEMENT_FLOAT:
    add_float(to, from, n);
    break;
  case RGI_ELEMENT_DOUBLE:
    add_double(to, from, n);
    break;
  }
}
