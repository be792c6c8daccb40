/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The loops on numbers. They are plain loops that -O3 vectorises (-O2 does not where the length is
 * unknown). Elements are combined one by one, so a vector of any width gives the same bits. They
 * are aligned: where they happened to lie badly an accumulate took half as long again. Complex sums
 * are sums of twice as many reals; products and pairs are in kernel_lanes.c. */
#ifndef __clang__
#pragma GCC optimize("O3", "align-functions=64", "align-loops=32", "fp-contract=off")
#endif

#include "access/kernel.h"

#include <stdatomic.h>
#include <string.h>

/* a: of in, b: of inout. Of parameters, not of other variables, GCC believes `restrict`. */
#define LOOP(name, type, expression)                                                               \
  static inline __attribute__((always_inline)) void name##_row(const type *restrict from,          \
                                                               type *restrict to, size_t n) {      \
    for (size_t i = 0; i < n; i++) {                                                               \
      type a = from[i], b = to[i];                                                                 \
      to[i] = (type)(expression);                                                                  \
    }                                                                                              \
  }                                                                                                \
  RGI_KERNEL_WIDE static void name(const void *in, void *inout, size_t units) {                    \
    name##_row(in, inout, units);                                                                  \
  }

/* Of equal elements, and where one is not a number, in's is taken, as MPI libraries do. */
#define MAX_OF (b > a ? b : a)
#define MIN_OF (b < a ? b : a)

#define EXTREMES(kind, type)                                                                       \
  LOOP(max_##kind, type, MAX_OF)                                                                   \
  LOOP(min_##kind, type, MIN_OF)

#define REALS(kind, type)                                                                          \
  LOOP(sum_##kind, type, a + b)                                                                    \
  LOOP(prod_##kind, type, a *b)                                                                    \
  EXTREMES(kind, type)

/* Signed integers are added and multiplied as unsigned ones, which wrap around, as MPI's do. */
#define INTEGERS(bits)                                                                             \
  LOOP(sum_u##bits, uint##bits##_t, a + b)                                                         \
  LOOP(prod_u##bits, uint##bits##_t, (uint64_t)a *b)                                               \
  LOOP(band_u##bits, uint##bits##_t, a &b)                                                         \
  LOOP(bor_u##bits, uint##bits##_t, a | b)                                                         \
  LOOP(bxor_u##bits, uint##bits##_t, a ^ b)                                                        \
  LOOP(land_u##bits, uint##bits##_t, (a != 0) & (b != 0))                                          \
  LOOP(lor_u##bits, uint##bits##_t, (a != 0) | (b != 0))                                           \
  LOOP(lxor_u##bits, uint##bits##_t, (a != 0) ^ (b != 0))                                          \
  EXTREMES(u##bits, uint##bits##_t)                                                                \
  EXTREMES(s##bits, int##bits##_t)

INTEGERS(8)
INTEGERS(16)
INTEGERS(32)
INTEGERS(64)
REALS(float, float)
REALS(double, double)

/* --- planes ---------------------------------------------------------------------------------- */

/* statement: what is done with the next `unit` numbers, x of in and y of inout, where f is the
 * factor. Rows of 1 to 4 elements of `few` numbers, as in columns of a matrix, have loops whose
 * lengths the compiler knows. */
#define ROWS_OF(name, count)                                                                       \
  for (int64_t k = 0; k < rows; k++, from += in_step, to += inout_step)                            \
  name##_row((const void *)from, (void *)to, count, factor)

#define PLANE(name, type, unit, few, statement)                                                    \
  static inline __attribute__((always_inline)) void name##_row(                                    \
      const type *restrict x, type *restrict y, int64_t n, const type *f) {                        \
    (void)f;                                                                                       \
    for (int64_t i = 0; i < n; i += (unit), x += (unit), y += (unit)) {                            \
      statement;                                                                                   \
    }                                                                                              \
  }                                                                                                \
  RGI_KERNEL_WIDE static void name(const rgi_kernel_plane *plane, const void *in, void *inout,     \
                                   const void *factor) {                                           \
    int64_t rows = plane->rows, n = plane->n, in_step = plane->in_step,                            \
            inout_step = plane->inout_step;                                                        \
    const char *from = in;                                                                         \
    char *to = inout;                                                                              \
    switch (n) {                                                                                   \
    case few:                                                                                      \
      ROWS_OF(name, few);                                                                          \
      break;                                                                                       \
    case 2 * (few):                                                                                \
      ROWS_OF(name, 2 * (few));                                                                    \
      break;                                                                                       \
    case 3 * (few):                                                                                \
      ROWS_OF(name, 3 * (few));                                                                    \
      break;                                                                                       \
    case 4 * (few):                                                                                \
      ROWS_OF(name, 4 * (few));                                                                    \
      break;                                                                                       \
    default:                                                                                       \
      ROWS_OF(name, n);                                                                            \
    }                                                                                              \
  }

#define SUMS(kind, type)                                                                           \
  PLANE(plane_##kind, type, 1, 1, *y += *x)                                                        \
  PLANE(scaled_##kind, type, 1, 1, *y += *f * *x)
#define COMPLEX_SUMS(kind, type)                                                                   \
  PLANE(plane_##kind##_complex, type, 1, 2, *y += *x)                                              \
  PLANE(scaled_##kind##_complex, type, 2, 2,                                                       \
        (y[0] += f[0] * x[0] - f[1] * x[1], y[1] += f[0] * x[1] + f[1] * x[0]))

SUMS(u32, uint32_t)
SUMS(u64, uint64_t)
SUMS(float, float)
SUMS(double, double)
COMPLEX_SUMS(float, float)
COMPLEX_SUMS(double, double)

/* --- atomic sums ----------------------------------------------------------------------------- */

/* Processors add integers atomically; a sum of reals is stored by a compare-and-swap of its bits,
 * which is repeated when another process has changed the element meanwhile. */
#define ADD_INTEGER(type, bits) atomic_fetch_add((_Atomic type *)at, more)

#define ADD_REAL(type, bits)                                                                       \
  do {                                                                                             \
    _Atomic uint##bits##_t *word = (void *)at;                                                     \
    uint##bits##_t was = atomic_load_explicit(word, memory_order_relaxed), next;                   \
    type sum;                                                                                      \
    do {                                                                                           \
      memcpy(&sum, &was, sizeof sum);                                                              \
      sum += more;                                                                                 \
      memcpy(&next, &sum, sizeof next);                                                            \
    } while (!atomic_compare_exchange_weak(word, &was, next));                                     \
  } while (0)

#define ATOMIC(kind, type, bits, add)                                                              \
  static void atomic_##kind(const rgi_kernel_plane *plane, const void *in, void *inout,            \
                            const void *factor) {                                                  \
    type f = factor ? *(const type *)factor : 1;                                                   \
    for (int64_t k = 0; k < plane->rows; k++) {                                                    \
      const char *from = (const char *)in + k * plane->in_step;                                    \
      type *at = (void *)((char *)inout + k * plane->inout_step), more;                            \
      for (int64_t i = 0; i < plane->n; i++, at++, from += sizeof more) {                          \
        memcpy(&more, from, sizeof more);                                                          \
        more *= f;                                                                                 \
        add(type, bits);                                                                           \
      }                                                                                            \
    }                                                                                              \
  }

ATOMIC(u32, uint32_t, 32, ADD_INTEGER)
ATOMIC(u64, uint64_t, 64, ADD_INTEGER)
ATOMIC(float, float, 32, ADD_REAL)
ATOMIC(double, double, 64, ADD_REAL)

/* --- the table ------------------------------------------------------------------------------- */

#define IS(op, loop, log) [RGI_KERNEL_##op] = {loop, NULL, 1, log}
#define INTEGER_ROW(sign, bits, log)                                                               \
  IS(PROD, prod_u##bits, log), IS(MAX, max_##sign##bits, log), IS(MIN, min_##sign##bits, log),     \
      IS(BAND, band_u##bits, log), IS(BOR, bor_u##bits, log), IS(BXOR, bxor_u##bits, log),         \
      IS(LAND, land_u##bits, log), IS(LOR, lor_u##bits, log), IS(LXOR, lxor_u##bits, log)
#define REAL_ROW(kind, log)                                                                        \
  IS(PROD, prod_##kind, log), IS(MAX, max_##kind, log), IS(MIN, min_##kind, log)
/* Of numbers of which arrays consist. */
#define SUMS_ROW(kind, log)                                                                        \
  [RGI_KERNEL_SUM] = {sum_##kind, plane_##kind, 1, log},                                           \
  [RGI_KERNEL_SCALED_SUM] = {NULL, scaled_##kind, 1, log},                                         \
  [RGI_KERNEL_ATOMIC_SUM] = {NULL, atomic_##kind, 1, log}
#define COMPLEX_ROW(kind, log)                                                                     \
  [RGI_KERNEL_SUM] = {sum_##kind, plane_##kind##_complex, 2, log}, [RGI_KERNEL_SCALED_SUM] = {     \
                                                                       NULL,                       \
                                                                       scaled_##kind##_complex, 2, \
                                                                       log}

static const rgi_kernel kernels[RGI_KERNEL_KINDS][RGI_KERNEL_OPS] = {
    [RGI_KERNEL_U8] = {IS(SUM, sum_u8, 0), INTEGER_ROW(u, 8, 0)},
    [RGI_KERNEL_S8] = {IS(SUM, sum_u8, 0), INTEGER_ROW(s, 8, 0)},
    [RGI_KERNEL_U16] = {IS(SUM, sum_u16, 1), INTEGER_ROW(u, 16, 1)},
    [RGI_KERNEL_S16] = {IS(SUM, sum_u16, 1), INTEGER_ROW(s, 16, 1)},
    [RGI_KERNEL_U32] = {SUMS_ROW(u32, 2), INTEGER_ROW(u, 32, 2)},
    [RGI_KERNEL_S32] = {SUMS_ROW(u32, 2), INTEGER_ROW(s, 32, 2)},
    [RGI_KERNEL_U64] = {SUMS_ROW(u64, 3), INTEGER_ROW(u, 64, 3)},
    [RGI_KERNEL_S64] = {SUMS_ROW(u64, 3), INTEGER_ROW(s, 64, 3)},
    [RGI_KERNEL_FLOAT] = {SUMS_ROW(float, 2), REAL_ROW(float, 2)},
    [RGI_KERNEL_DOUBLE] = {SUMS_ROW(double, 3), REAL_ROW(double, 3)},
    [RGI_KERNEL_FLOAT_COMPLEX] = {COMPLEX_ROW(float, 2)},
    [RGI_KERNEL_DOUBLE_COMPLEX] = {COMPLEX_ROW(double, 3)},
    [RGI_KERNEL_PLAIN_FLOAT_COMPLEX] = {COMPLEX_ROW(float, 2)},
    [RGI_KERNEL_PLAIN_DOUBLE_COMPLEX] = {COMPLEX_ROW(double, 3)}};

const rgi_kernel *rgi_kernel_of(rgi_kernel_kind kind, rgi_kernel_op op) {
  const rgi_kernel *kernel = &kernels[kind][op];
  return kernel->units ? kernel : rgi_kernel_of_lanes(kind, op);
}
