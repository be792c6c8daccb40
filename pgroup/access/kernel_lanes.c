/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The loops on elements of two numbers side by side: products of complex numbers, and the least and
 * the greatest of pairs with their places.
 *
 * Vectors of 32 bytes as GCC and clang have them: where the processor's are shorter, the compiler
 * takes two. The loops that the compiler makes of plain ones take the two numbers of an element
 * apart and put them together again, and are hardly faster than one element after the other. */
#ifndef __clang__
#pragma GCC optimize("O3", "align-loops=32", "fp-contract=off")
#endif

#include "access/kernel.h"

#include <complex.h>
#include <stdint.h>
#include <string.h>

typedef int32_t int32_lanes __attribute__((vector_size(32)));
typedef int64_t int64_lanes __attribute__((vector_size(32)));
typedef float float_lanes __attribute__((vector_size(32)));
typedef double double_lanes __attribute__((vector_size(32)));

/* The lanes of v: the first of each element twice, the second twice, the two exchanged. */
#ifdef __clang__
#define FIRST_32(v) __builtin_shufflevector(v, v, 0, 0, 2, 2, 4, 4, 6, 6)
#define SECOND_32(v) __builtin_shufflevector(v, v, 1, 1, 3, 3, 5, 5, 7, 7)
#define TURNED_32(v) __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6)
#define FIRST_64(v) __builtin_shufflevector(v, v, 0, 0, 2, 2)
#define SECOND_64(v) __builtin_shufflevector(v, v, 1, 1, 3, 3)
#define TURNED_64(v) __builtin_shufflevector(v, v, 1, 0, 3, 2)
#else
#define FIRST_32(v) __builtin_shuffle(v, (int32_lanes){0, 0, 2, 2, 4, 4, 6, 6})
#define SECOND_32(v) __builtin_shuffle(v, (int32_lanes){1, 1, 3, 3, 5, 5, 7, 7})
#define TURNED_32(v) __builtin_shuffle(v, (int32_lanes){1, 0, 3, 2, 5, 4, 7, 6})
#define FIRST_64(v) __builtin_shuffle(v, (int64_lanes){0, 0, 2, 2})
#define SECOND_64(v) __builtin_shuffle(v, (int64_lanes){1, 1, 3, 3})
#define TURNED_64(v) __builtin_shuffle(v, (int64_lanes){1, 0, 3, 2})
#endif

/* So many bits for the first number of each element, and for the second. */
#define BITS_32(first, second)                                                                     \
  (int32_lanes) {                                                                                  \
    first, second, first, second, first, second, first, second                                     \
  }
#define BITS_64(first, second)                                                                     \
  (int64_lanes) {                                                                                  \
    first, second, first, second                                                                   \
  }

/* --- complex products ------------------------------------------------------------------------ */

/* The formula. C's rules give another product only where both parts of this one are not numbers:
 * then a block is multiplied once more, one element after the other. Fortran has no such rules, and
 * MPI libraries follow none for C++. */
enum { BLOCK = 512 };

#define PRODUCT(name, lanes, bits, sign)                                                           \
  static inline __attribute__((always_inline)) void name(const char *in, const char *inout,        \
                                                         char *out, void *odd) {                   \
    lanes a, b, turned, product;                                                                   \
    int##bits##_lanes minus = BITS_##bits(sign, 0), none;                                          \
    memcpy(&a, in, sizeof a);                                                                      \
    memcpy(&b, inout, sizeof b);                                                                   \
    turned = TURNED_##bits(a) * SECOND_##bits(b);                                                  \
    product = a * FIRST_##bits(b) + (lanes)((int##bits##_lanes)turned ^ minus);                    \
    memcpy(out, &product, sizeof product);                                                         \
    memcpy(&none, odd, sizeof none);                                                               \
    none |= product != product;                                                                    \
    memcpy(odd, &none, sizeof none);                                                               \
  }
PRODUCT(product_float, float_lanes, 32, INT32_MIN)
PRODUCT(product_double, double_lanes, 64, INT64_MIN)

#define PRODUCTS(kind, number)                                                                     \
  static void multiply_##kind(const char *in, char *inout, size_t bytes) {                         \
    number complex a, b;                                                                           \
    for (size_t i = 0; i < bytes; i += sizeof a) {                                                 \
      memcpy(&a, in + i, sizeof a);                                                                \
      memcpy(&b, inout + i, sizeof b);                                                             \
      b *= a;                                                                                      \
      memcpy(inout + i, &b, sizeof b);                                                             \
    }                                                                                              \
  }                                                                                                \
  RGI_KERNEL_WIDE static void products_##kind(const void *in, void *inout, size_t units) {         \
    const char *from = in;                                                                         \
    char *to = inout, block[BLOCK];                                                                \
    for (size_t left = units * sizeof(number complex), now; left > 0; left -= now) {               \
      int64_lanes odd = {0};                                                                       \
      now = left < BLOCK ? left / sizeof odd * sizeof odd : BLOCK;                                 \
      for (size_t i = 0; i < now; i += sizeof odd)                                                 \
        product_##kind(from + i, to + i, block + i, &odd);                                         \
      if (now == 0)                                                                                \
        multiply_##kind(from, to, now = left);                                                     \
      else if (odd[0] | odd[1] | odd[2] | odd[3])                                                  \
        multiply_##kind(from, to, now);                                                            \
      else                                                                                         \
        memcpy(to, block, now);                                                                    \
      from += now;                                                                                 \
      to += now;                                                                                   \
    }                                                                                              \
  }                                                                                                \
  RGI_KERNEL_WIDE static void plain_products_##kind(const void *in, void *inout, size_t units) {   \
    const char *from = in;                                                                         \
    char *to = inout, a[32] = {0}, b[32] = {0};                                                    \
    size_t bytes = units * sizeof(number complex), whole = bytes / 32 * 32;                        \
    int64_lanes odd = {0};                                                                         \
    for (size_t i = 0; i < whole; i += 32)                                                         \
      product_##kind(from + i, to + i, to + i, &odd);                                              \
    memcpy(a, from + whole, bytes - whole);                                                        \
    memcpy(b, to + whole, bytes - whole);                                                          \
    product_##kind(a, b, b, &odd);                                                                 \
    memcpy(to + whole, b, bytes - whole);                                                          \
  }
PRODUCTS(float, float)
PRODUCTS(double, double)

/* --- pairs ----------------------------------------------------------------------------------- */

/* In each vector of in and inout: the bits that are taken from in. An element's value is taken if
 * it is better, its place also if the values are equal and that of inout is not less. Bits of
 * neither number, which a pair may have behind one of them, stay. above: how many bits of the lane
 * are above those of the value, and of the place. */
#define PAIRS(name, better_than, value_lanes, place_lanes, bits, above_value, above_place)         \
  RGI_KERNEL_WIDE static void name(const void *in, void *inout, size_t units) {                    \
    const char *from = in;                                                                         \
    char *to = inout;                                                                              \
    const int##bits##_lanes second = BITS_##bits(0, -1),                                           \
                            own = BITS_##bits((int##bits##_t)(UINT##bits##_MAX >> (above_value)),  \
                                              (int##bits##_t)(UINT##bits##_MAX >> (above_place))); \
    for (size_t left = units * (bits) / 4, now; left > 0; left -= now) {                           \
      int##bits##_lanes a = {0}, b = {0}, better, same, less, taken;                               \
      now = left < sizeof a ? left : sizeof a;                                                     \
      if (now == sizeof a) {                                                                       \
        memcpy(&a, from, sizeof a);                                                                \
        memcpy(&b, to, sizeof b);                                                                  \
      } else {                                                                                     \
        memcpy(&a, from, now);                                                                     \
        memcpy(&b, to, now);                                                                       \
      }                                                                                            \
      better = (value_lanes)(a << (above_value)) better_than(value_lanes)(b << (above_value));     \
      same = (value_lanes)(a << (above_value)) == (value_lanes)(b << (above_value));               \
      less = ~((place_lanes)(b << (above_place)) < (place_lanes)(a << (above_place)));             \
      taken = (FIRST_##bits(better) | (FIRST_##bits(same) & less & second)) & own;                 \
      b = (a & taken) | (b & ~taken);                                                              \
      if (now == sizeof b)                                                                         \
        memcpy(to, &b, sizeof b);                                                                  \
      else                                                                                         \
        memcpy(to, &b, now);                                                                       \
      from += now;                                                                                 \
      to += now;                                                                                   \
    }                                                                                              \
  }
#define BOTH(name, ...) PAIRS(least_##name, <, __VA_ARGS__) PAIRS(greatest_##name, >, __VA_ARGS__)

BOTH(int_int, int32_lanes, int32_lanes, 32, 0, 0)
BOTH(float_int, float_lanes, int32_lanes, 32, 0, 0)
BOTH(short_int, int32_lanes, int32_lanes, 32, 16, 0)
BOTH(double_int, double_lanes, int64_lanes, 64, 0, 32)
BOTH(long_int, int64_lanes, int64_lanes, 64, 0, 32)
BOTH(float_float, float_lanes, float_lanes, 32, 0, 0)
BOTH(double_double, double_lanes, double_lanes, 64, 0, 0)

#define PRODUCT_OF(loop, log)                                                                      \
  {                                                                                                \
    [RGI_KERNEL_PROD] = { loop, NULL, 1, log }                                                     \
  }
#define PAIR_OF(name, log)                                                                         \
  {                                                                                                \
    [RGI_KERNEL_MINLOC] = {least_##name, NULL, 1, log}, [RGI_KERNEL_MAXLOC] = {                    \
      greatest_##name,                                                                             \
      NULL,                                                                                        \
      1,                                                                                           \
      log                                                                                          \
    }                                                                                              \
  }

static const rgi_kernel kernels[RGI_KERNEL_KINDS][RGI_KERNEL_OPS] = {
    [RGI_KERNEL_FLOAT_COMPLEX] = PRODUCT_OF(products_float, 3),
    [RGI_KERNEL_DOUBLE_COMPLEX] = PRODUCT_OF(products_double, 4),
    [RGI_KERNEL_PLAIN_FLOAT_COMPLEX] = PRODUCT_OF(plain_products_float, 3),
    [RGI_KERNEL_PLAIN_DOUBLE_COMPLEX] = PRODUCT_OF(plain_products_double, 4),
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    [RGI_KERNEL_SHORT_INT] = PAIR_OF(short_int, 3),
    [RGI_KERNEL_LONG_INT] = PAIR_OF(long_int, 4),
    [RGI_KERNEL_DOUBLE_INT] = PAIR_OF(double_int, 4),
#endif
    [RGI_KERNEL_INT_INT] = PAIR_OF(int_int, 3),
    [RGI_KERNEL_FLOAT_INT] = PAIR_OF(float_int, 3),
    [RGI_KERNEL_FLOAT_FLOAT] = PAIR_OF(float_float, 3),
    [RGI_KERNEL_DOUBLE_DOUBLE] = PAIR_OF(double_double, 4)};

const rgi_kernel *rgi_kernel_of_lanes(rgi_kernel_kind kind, rgi_kernel_op op) {
  return &kernels[kind][op];
}
