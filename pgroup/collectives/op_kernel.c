/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The loops of MPI's built-in operations, one for each kind of element and operation. They are
 * plain loops that -O3 vectorises (-O2 does not where the length is unknown). Elements are combined
 * one by one, so a vector of any width gives the same bits.
 *
 * Complex sums are sums of twice as many reals; products and pairs are in op_lanes.c. Fortran's
 * types are C's of their size. Without a loop: long doubles, for which there are no vector
 * instructions, and Fortran's logicals, whose truth only MPI knows. */
#ifndef __clang__
#pragma GCC optimize("O3", "align-loops=32", "fp-contract=off")
#endif

#include "collectives/op_kernel.h"

#include <stdint.h>

#include "collectives/op_lanes.h"

/* a: of in, b: of inout. */
#define LOOP(name, type, expression)                                                               \
  RGI_OP_LOOP_WIDE static void name(const void *in, void *inout, size_t units) {                   \
    const type *restrict from = in;                                                                \
    type *restrict to = inout;                                                                     \
    for (size_t i = 0; i < units; i++) {                                                           \
      type a = from[i], b = to[i];                                                                 \
      to[i] = (type)(expression);                                                                  \
    }                                                                                              \
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
#define UNSIGNED(bits)                                                                             \
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

UNSIGNED(8)
UNSIGNED(16)
UNSIGNED(32)
UNSIGNED(64)
REALS(float, float)
REALS(double, double)

enum { NO_OP, SUM, PROD, MAX, MIN, BAND, BOR, BXOR, LAND, LOR, LXOR, OPS };
enum { NO_KIND, U8, U16, U32, U64, S8, S16, S32, S64, FLOAT, DOUBLE, KINDS };

#define INTEGER_ROW(sign, bits)                                                                    \
  {                                                                                                \
    [SUM] = sum_u##bits, [PROD] = prod_u##bits, [MAX] = max_##sign##bits,                          \
    [MIN] = min_##sign##bits, [BAND] = band_u##bits, [BOR] = bor_u##bits, [BXOR] = bxor_u##bits,   \
    [LAND] = land_u##bits, [LOR] = lor_u##bits, [LXOR] = lxor_u##bits                              \
  }
#define REAL_ROW(kind)                                                                             \
  { [SUM] = sum_##kind, [PROD] = prod_##kind, [MAX] = max_##kind, [MIN] = min_##kind }

static rgi_op_loop *const loops[KINDS][OPS] = {
    [U8] = INTEGER_ROW(u, 8),   [U16] = INTEGER_ROW(u, 16), [U32] = INTEGER_ROW(u, 32),
    [U64] = INTEGER_ROW(u, 64), [S8] = INTEGER_ROW(s, 8),   [S16] = INTEGER_ROW(s, 16),
    [S32] = INTEGER_ROW(s, 32), [S64] = INTEGER_ROW(s, 64), [FLOAT] = REAL_ROW(float),
    [DOUBLE] = REAL_ROW(double)};

static int number_of(MPI_Op op) {
  if (op == MPI_SUM)
    return SUM;
  if (op == MPI_MAX)
    return MAX;
  if (op == MPI_MIN)
    return MIN;
  if (op == MPI_PROD)
    return PROD;
  if (op == MPI_BAND)
    return BAND;
  if (op == MPI_BOR)
    return BOR;
  if (op == MPI_BXOR)
    return BXOR;
  if (op == MPI_LAND)
    return LAND;
  if (op == MPI_LOR)
    return LOR;
  return op == MPI_LXOR ? LXOR : NO_OP;
}

/* An integer type's kind, of the unsigned ones by their size, and of the signed ones. */
static int kind_of_size(size_t size, int is_signed) {
  int kind = size == 1 ? U8 : size == 2 ? U16 : size == 4 ? U32 : size == 8 ? U64 : NO_KIND;
  return kind != NO_KIND && is_signed ? kind - U8 + S8 : kind;
}

static int unsigned_kind(MPI_Datatype type) {
  if (type == MPI_UNSIGNED || type == MPI_UINT32_T)
    return U32;
  if (type == MPI_UNSIGNED_LONG)
    return kind_of_size(sizeof(unsigned long), 0);
  if (type == MPI_UNSIGNED_LONG_LONG || type == MPI_UINT64_T)
    return U64;
  if (type == MPI_UNSIGNED_CHAR || type == MPI_UINT8_T)
    return U8;
  return type == MPI_UNSIGNED_SHORT || type == MPI_UINT16_T ? U16 : NO_KIND;
}

static int signed_kind(MPI_Datatype type) {
  if (type == MPI_INT || type == MPI_INT32_T)
    return S32;
  if (type == MPI_LONG)
    return kind_of_size(sizeof(long), 1);
  if (type == MPI_LONG_LONG || type == MPI_INT64_T)
    return S64;
  if (type == MPI_SIGNED_CHAR || type == MPI_INT8_T)
    return S8;
  if (type == MPI_SHORT || type == MPI_INT16_T)
    return S16;
  if (type == MPI_AINT)
    return kind_of_size(sizeof(MPI_Aint), 1);
  if (type == MPI_COUNT)
    return kind_of_size(sizeof(MPI_Count), 1);
  return type == MPI_OFFSET ? kind_of_size(sizeof(MPI_Offset), 1) : NO_KIND;
}

/* Of Fortran's and C++'s types the one of C's that they are; others as they are. */
static MPI_Datatype type_in_c(MPI_Datatype type) {
  int size = 0;
  if (type == MPI_INTEGER || type == MPI_REAL || type == MPI_DOUBLE_PRECISION ||
      type == MPI_COMPLEX || type == MPI_DOUBLE_COMPLEX)
    MPI_Type_size(type, &size);
  if (type == MPI_INTEGER)
    return size == 4 ? MPI_INT32_T : size == 8 ? MPI_INT64_T : type;
  if (type == MPI_REAL || type == MPI_DOUBLE_PRECISION)
    return size == 4 ? MPI_FLOAT : size == 8 ? MPI_DOUBLE : type;
  if (type == MPI_COMPLEX || type == MPI_DOUBLE_COMPLEX)
    return size == 8 ? MPI_C_FLOAT_COMPLEX : size == 16 ? MPI_C_DOUBLE_COMPLEX : type;
  if (type == MPI_INTEGER4)
    return MPI_INT32_T;
  if (type == MPI_INTEGER8)
    return MPI_INT64_T;
  if (type == MPI_INTEGER1 || type == MPI_INTEGER2)
    return type == MPI_INTEGER1 ? MPI_INT8_T : MPI_INT16_T;
  if (type == MPI_REAL4 || type == MPI_REAL8)
    return type == MPI_REAL4 ? MPI_FLOAT : MPI_DOUBLE;
  if (type == MPI_COMPLEX8 || type == MPI_CXX_FLOAT_COMPLEX)
    return MPI_C_FLOAT_COMPLEX;
  if (type == MPI_COMPLEX16 || type == MPI_CXX_DOUBLE_COMPLEX)
    return MPI_C_DOUBLE_COMPLEX;
  return type == MPI_CXX_BOOL ? MPI_C_BOOL : type;
}

static rgi_op_kernel kernel(int kind, int op, size_t units) {
  return (rgi_op_kernel){loops[kind][op], units};
}

static rgi_op_kernel kernel_in_c(MPI_Datatype type, MPI_Op op) {
  int number = number_of(op), kind;
  if (type == MPI_DOUBLE)
    return kernel(DOUBLE, number, 1);
  if (type == MPI_FLOAT)
    return kernel(FLOAT, number, 1);
  if ((kind = signed_kind(type)) != NO_KIND || (kind = unsigned_kind(type)) != NO_KIND)
    return kernel(kind, number, 1);
  if (number == PROD)
    return (rgi_op_kernel){rgi_op_lanes_product(type), 1};
  if (type == MPI_C_DOUBLE_COMPLEX && number == SUM)
    return kernel(DOUBLE, SUM, 2);
  if ((type == MPI_C_COMPLEX || type == MPI_C_FLOAT_COMPLEX) && number == SUM)
    return kernel(FLOAT, SUM, 2);
  if (type == MPI_BYTE && number >= BAND && number <= BXOR)
    return kernel(U8, number, 1);
  if (type == MPI_C_BOOL && sizeof(_Bool) == 1 && number >= LAND)
    return kernel(U8, number, 1);
  return kernel(NO_KIND, NO_OP, 1);
}

rgi_op_kernel rgi_op_kernel_of(MPI_Datatype type, MPI_Op op) {
  if (op == MPI_MINLOC || op == MPI_MAXLOC)
    return (rgi_op_kernel){rgi_op_lanes_pair(type, op), 1};
  rgi_op_kernel found = kernel_in_c(type, op);
  MPI_Datatype in_c = found.run ? type : type_in_c(type);
  return in_c == type ? found : kernel_in_c(in_c, op);
}
