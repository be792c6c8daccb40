/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Accumulating patches. A kernel treats one plane. Its loop over a row is a plain one that -O3
 * vectorises (-O2 does not where the length is unknown). The loops are aligned: where they happened
 * to lie badly an accumulate took half as long again. */
#ifndef __clang__
#pragma GCC optimize("O3", "align-functions=64", "align-loops=32")
#endif

#include "access/element.h"
#include "access/patch.h"

typedef struct {
  int64_t rows, n, to_step, from_step; /* in elements */
} plane;

typedef void kernel(const plane *p, void *to, const void *from, const void *alpha);

/* name: adds x[i] to y[i] if alpha is NULL, else *alpha * x[i]. Integers are added as unsigned
 * ones, which wrap around. */
#define REAL_KERNEL(name, type)                                                                    \
  static void name##_row(int64_t n, type *restrict y, const type *restrict x) {                    \
    for (int64_t i = 0; i < n; i++)                                                                \
      y[i] += x[i];                                                                                \
  }                                                                                                \
  static void name##_row_scaled(int64_t n, type *restrict y, const type *restrict x, type alpha) { \
    for (int64_t i = 0; i < n; i++)                                                                \
      y[i] += alpha * x[i];                                                                        \
  }                                                                                                \
  static void name(const plane *p, void *to, const void *from, const void *alpha) {                \
    type *y = to;                                                                                  \
    const type *x = from;                                                                          \
    if (!alpha)                                                                                    \
      for (int64_t i = 0; i < p->rows; i++)                                                        \
        name##_row(p->n, y + i * p->to_step, x + i * p->from_step);                                \
    else                                                                                           \
      for (int64_t i = 0; i < p->rows; i++)                                                        \
        name##_row_scaled(p->n, y + i * p->to_step, x + i * p->from_step, *(const type *)alpha);   \
  }

/* Complex numbers as pairs; a plain sum is one of twice as many reals. */
#define COMPLEX_KERNEL(name, type, real)                                                           \
  static void name##_row_scaled(int64_t n, type *restrict y, const type *restrict x, type re,      \
                                type im) {                                                         \
    for (int64_t i = 0; i < n; i++) {                                                              \
      y[2 * i] += re * x[2 * i] - im * x[2 * i + 1];                                               \
      y[2 * i + 1] += re * x[2 * i + 1] + im * x[2 * i];                                           \
    }                                                                                              \
  }                                                                                                \
  static void name(const plane *p, void *to, const void *from, const void *alpha) {                \
    type *y = to;                                                                                  \
    const type *x = from, *factor = alpha;                                                         \
    if (!alpha)                                                                                    \
      real(&(plane){p->rows, 2 * p->n, 2 * p->to_step, 2 * p->from_step}, to, from, NULL);         \
    else                                                                                           \
      for (int64_t i = 0; i < p->rows; i++)                                                        \
        name##_row_scaled(p->n, y + 2 * i * p->to_step, x + 2 * i * p->from_step, factor[0],       \
                          factor[1]);                                                              \
  }

#define ATOMIC_KERNEL(name, type, element)                                                         \
  static void name(const plane *p, void *to, const void *from, const void *alpha) {                \
    type factor = alpha ? *(const type *)alpha : 1;                                                \
    for (int64_t i = 0; i < p->rows; i++) {                                                        \
      type *y = (type *)to + i * p->to_step;                                                       \
      const type *x = (const type *)from + i * p->from_step;                                       \
      for (int64_t j = 0; j < p->n; j++)                                                           \
        rgi_element_fetch_add(element, &y[j], (int64_t)(factor * x[j]));                           \
    }                                                                                              \
  }

REAL_KERNEL(add_int32, uint32_t)
REAL_KERNEL(add_int64, uint64_t)
REAL_KERNEL(add_float, float)
REAL_KERNEL(add_double, double)
COMPLEX_KERNEL(add_float_complex, float, add_float)
COMPLEX_KERNEL(add_double_complex, double, add_double)
ATOMIC_KERNEL(add_atomic_int32, uint32_t, RGI_ELEMENT_INT32)
ATOMIC_KERNEL(add_atomic_int64, uint64_t, RGI_ELEMENT_INT64)

/* A kernel, and its elements: of 2 to the power of `log` bytes each. */
typedef struct {
  kernel *add;
  int log;
} adder;

static void accumulate_patch(adder by, const rgi_strided *p, void *target, const void *origin,
                             const void *alpha) {
  int64_t at[RGI_STRIDED_DIMS] = {0}, to = 0, from = 0;
  plane rows = {1, p->extent[0] >> by.log, 0, 0};
  if (p->dims > 1) {
    rows.rows = p->extent[1];
    rows.to_step = p->target_stride[1] >> by.log;
    rows.from_step = p->origin_stride[1] >> by.log;
  }
  do
    by.add(&rows, (char *)target + to, (const char *)origin + from, alpha);
  while (rgi_strided_step(p, at, &from, &to));
}

void rgi_patch_accumulate(rg_array_type type, const rgi_strided *p, void *target,
                          const void *origin, const void *alpha) {
  static const adder adders[RG_TYPE_OPAQUE] = {[RG_TYPE_INT32] = {add_int32, 2},
                                               [RG_TYPE_INT64] = {add_int64, 3},
                                               [RG_TYPE_FLOAT] = {add_float, 2},
                                               [RG_TYPE_DOUBLE] = {add_double, 3},
                                               [RG_TYPE_FLOAT_COMPLEX] = {add_float_complex, 3},
                                               [RG_TYPE_DOUBLE_COMPLEX] = {add_double_complex, 4}};
  accumulate_patch(adders[type], p, target, origin, alpha);
}

void rgi_patch_accumulate_atomic(rg_array_type type, const rgi_strided *p, void *target,
                                 const void *origin, const void *alpha) {
  adder by = type == RG_TYPE_INT32 ? (adder){add_atomic_int32, 2} : (adder){add_atomic_int64, 3};
  accumulate_patch(by, p, target, origin, alpha);
}
