/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Vectors of 32 bytes as GCC and clang have them: where the processor's are shorter, the compiler
 * takes two. The loops that the compiler makes of plain ones take the two numbers of an element
 * apart and put them together again, and are hardly faster than one element after the other. */
#ifndef __clang__
#pragma GCC optimize("O3", "align-loops=32", "fp-contract=off")
#endif

#include "collectives/op_lanes.h"

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
  RGI_OP_LOOP_WIDE static void products_##kind(const void *in, void *inout, size_t units) {        \
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
  RGI_OP_LOOP_WIDE static void plain_products_##kind(const void *in, void *inout, size_t units) {  \
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

rgi_op_loop *rgi_op_lanes_product(MPI_Datatype type) {
  int size = 0;
  if (type == MPI_C_DOUBLE_COMPLEX)
    return products_double;
  if (type == MPI_C_COMPLEX || type == MPI_C_FLOAT_COMPLEX)
    return products_float;
  if (type == MPI_CXX_FLOAT_COMPLEX || type == MPI_CXX_DOUBLE_COMPLEX || type == MPI_COMPLEX ||
      type == MPI_DOUBLE_COMPLEX || type == MPI_COMPLEX8 || type == MPI_COMPLEX16)
    MPI_Type_size(type, &size);
  return size == 8 ? plain_products_float : size == 16 ? plain_products_double : NULL;
}

/* --- pairs ----------------------------------------------------------------------------------- */

/* In each vector of in and inout: the bits that are taken from in. An element's value is taken if
 * it is better, its place also if the values are equal and that of inout is not less. Bits of
 * neither number, which a pair may have behind one of them, stay. above: how many bits of the lane
 * are above those of the value, and of the place. */
#define PAIRS(name, better_than, value_lanes, place_lanes, bits, above_value, above_place)         \
  RGI_OP_LOOP_WIDE static void name(const void *in, void *inout, size_t units) {                   \
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

/* Whether a pair of MPI's is the struct that is meant here. */
#define IS_PAIR(value, bytes, at)                                                                  \
  (sizeof(struct {                                                                                 \
     value v;                                                                                      \
     int place;                                                                                    \
   }) == (bytes) &&                                                                                \
   sizeof(value) <= (at))

/* Of two equal numbers of Fortran's. */
static rgi_op_loop *fortran_pair(MPI_Datatype type, int least) {
  int size = 0;
  if (type != MPI_2INTEGER && type != MPI_2REAL && type != MPI_2DOUBLE_PRECISION)
    return NULL;
  MPI_Type_size(type, &size);
  if (type == MPI_2INTEGER)
    return size != 8 ? NULL : least ? least_int_int : greatest_int_int;
  if (size == 8)
    return least ? least_float_float : greatest_float_float;
  return size != 16 ? NULL : least ? least_double_double : greatest_double_double;
}

rgi_op_loop *rgi_op_lanes_pair(MPI_Datatype type, MPI_Op op) {
  int least = op == MPI_MINLOC;
  if (type == MPI_2INT)
    return least ? least_int_int : greatest_int_int;
  if (type == MPI_FLOAT_INT)
    return least ? least_float_int : greatest_float_int;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (type == MPI_SHORT_INT && IS_PAIR(short, 8, 4))
    return least ? least_short_int : greatest_short_int;
  if (type == MPI_DOUBLE_INT && IS_PAIR(double, 16, 8))
    return least ? least_double_int : greatest_double_int;
  if (type == MPI_LONG_INT && IS_PAIR(long, 16, 8))
    return least ? least_long_int : greatest_long_int;
#endif
  return fortran_pair(type, least);
}
