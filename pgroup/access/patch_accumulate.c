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
#include "access/patch_plan.h"

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

static void accumulate_patch(kernel *add, size_t element, int dims, const int64_t extent[],
                             void *to, const int64_t to_ld[], const void *from,
                             const int64_t from_ld[], const void *alpha) {
  int64_t at[RG_ARRAY_MAX_DIMS + 1] = {0}, a = 0, b = 0, size = (int64_t)element;
  rgi_patch_plan p;
  if (!rgi_patch_plan_make(&p, dims, extent, to_ld, from_ld))
    return;
  plane rows = {p.extent[1], p.extent[0], p.a[1], p.b[1]};
  do
    add(&rows, (char *)to + a * size, (const char *)from + b * size, alpha);
  while (rgi_patch_plan_step(&p, at, &a, &b));
}

void rgi_patch_accumulate(rg_array_type type, int dims, const int64_t extent[], void *to,
                          const int64_t to_ld[], const void *from, const int64_t from_ld[],
                          const void *alpha) {
  static const struct {
    kernel *add;
    size_t element;
  } kinds[RG_TYPE_OPAQUE] = {[RG_TYPE_INT32] = {add_int32, 4},
                             [RG_TYPE_INT64] = {add_int64, 8},
                             [RG_TYPE_FLOAT] = {add_float, 4},
                             [RG_TYPE_DOUBLE] = {add_double, 8},
                             [RG_TYPE_FLOAT_COMPLEX] = {add_float_complex, 8},
                             [RG_TYPE_DOUBLE_COMPLEX] = {add_double_complex, 16}};
  accumulate_patch(kinds[type].add, kinds[type].element, dims, extent, to, to_ld, from, from_ld,
                   alpha);
}

void rgi_patch_accumulate_atomic(rg_array_type type, int dims, const int64_t extent[], void *to,
                                 const int64_t to_ld[], const void *from, const int64_t from_ld[],
                                 const void *alpha) {
  if (type == RG_TYPE_INT32)
    accumulate_patch(add_atomic_int32, 4, dims, extent, to, to_ld, from, from_ld, alpha);
  else
    accumulate_patch(add_atomic_int64, 8, dims, extent, to, to_ld, from, from_ld, alpha);
}
