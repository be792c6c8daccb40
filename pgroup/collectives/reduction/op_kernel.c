/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which loop of access/kernel.h belongs to a type and an operation of MPI's. Fortran's types are
 * C's of their size. Without a loop: long doubles, for which there are no vector instructions, and
 * Fortran's logicals, whose truth only MPI knows. */
#include "collectives/reduction/op.h"

static rgi_kernel_op op_of(MPI_Op op) {
  if (op == MPI_SUM)
    return RGI_KERNEL_SUM;
  if (op == MPI_MAX)
    return RGI_KERNEL_MAX;
  if (op == MPI_MIN)
    return RGI_KERNEL_MIN;
  if (op == MPI_PROD)
    return RGI_KERNEL_PROD;
  if (op == MPI_BAND)
    return RGI_KERNEL_BAND;
  if (op == MPI_BOR)
    return RGI_KERNEL_BOR;
  if (op == MPI_BXOR)
    return RGI_KERNEL_BXOR;
  if (op == MPI_LAND)
    return RGI_KERNEL_LAND;
  if (op == MPI_LOR)
    return RGI_KERNEL_LOR;
  if (op == MPI_LXOR)
    return RGI_KERNEL_LXOR;
  if (op == MPI_MAXLOC)
    return RGI_KERNEL_MAXLOC;
  return op == MPI_MINLOC ? RGI_KERNEL_MINLOC : RGI_KERNEL_NO_OP;
}

/* An integer type's kind, of the unsigned ones by their size, and of the signed ones. */
static rgi_kernel_kind kind_of_size(size_t size, int is_signed) {
  switch (size) {
  case 1:
    return is_signed ? RGI_KERNEL_S8 : RGI_KERNEL_U8;
  case 2:
    return is_signed ? RGI_KERNEL_S16 : RGI_KERNEL_U16;
  case 4:
    return is_signed ? RGI_KERNEL_S32 : RGI_KERNEL_U32;
  case 8:
    return is_signed ? RGI_KERNEL_S64 : RGI_KERNEL_U64;
  default:
    return RGI_KERNEL_NO_KIND;
  }
}

static rgi_kernel_kind unsigned_kind(MPI_Datatype type) {
  if (type == MPI_UNSIGNED || type == MPI_UINT32_T)
    return RGI_KERNEL_U32;
  if (type == MPI_UNSIGNED_LONG)
    return kind_of_size(sizeof(unsigned long), 0);
  if (type == MPI_UNSIGNED_LONG_LONG || type == MPI_UINT64_T)
    return RGI_KERNEL_U64;
  if (type == MPI_UNSIGNED_CHAR || type == MPI_UINT8_T)
    return RGI_KERNEL_U8;
  return type == MPI_UNSIGNED_SHORT || type == MPI_UINT16_T ? RGI_KERNEL_U16 : RGI_KERNEL_NO_KIND;
}

static rgi_kernel_kind signed_kind(MPI_Datatype type) {
  if (type == MPI_INT || type == MPI_INT32_T || type == MPI_INTEGER4)
    return RGI_KERNEL_S32;
  if (type == MPI_LONG)
    return kind_of_size(sizeof(long), 1);
  if (type == MPI_LONG_LONG || type == MPI_INT64_T || type == MPI_INTEGER8)
    return RGI_KERNEL_S64;
  if (type == MPI_SIGNED_CHAR || type == MPI_INT8_T || type == MPI_INTEGER1)
    return RGI_KERNEL_S8;
  if (type == MPI_SHORT || type == MPI_INT16_T || type == MPI_INTEGER2)
    return RGI_KERNEL_S16;
  if (type == MPI_AINT)
    return kind_of_size(sizeof(MPI_Aint), 1);
  if (type == MPI_COUNT)
    return kind_of_size(sizeof(MPI_Count), 1);
  return type == MPI_OFFSET ? kind_of_size(sizeof(MPI_Offset), 1) : RGI_KERNEL_NO_KIND;
}

static rgi_kernel_kind real_kind(MPI_Datatype type) {
  if (type == MPI_DOUBLE || type == MPI_REAL8)
    return RGI_KERNEL_DOUBLE;
  if (type == MPI_FLOAT || type == MPI_REAL4)
    return RGI_KERNEL_FLOAT;
  if (type == MPI_C_DOUBLE_COMPLEX)
    return RGI_KERNEL_DOUBLE_COMPLEX;
  if (type == MPI_C_COMPLEX || type == MPI_C_FLOAT_COMPLEX)
    return RGI_KERNEL_FLOAT_COMPLEX;
  if (type == MPI_COMPLEX8 || type == MPI_CXX_FLOAT_COMPLEX)
    return RGI_KERNEL_PLAIN_FLOAT_COMPLEX;
  return type == MPI_COMPLEX16 || type == MPI_CXX_DOUBLE_COMPLEX ? RGI_KERNEL_PLAIN_DOUBLE_COMPLEX
                                                                 : RGI_KERNEL_NO_KIND;
}

/* Whether a pair of MPI's is the struct that is meant here. */
#define IS_PAIR(value, bytes, at)                                                                  \
  (sizeof(struct {                                                                                 \
     value v;                                                                                      \
     int place;                                                                                    \
   }) == (bytes) &&                                                                                \
   sizeof(value) <= (at))

static rgi_kernel_kind pair_kind(MPI_Datatype type) {
  if (type == MPI_2INT)
    return RGI_KERNEL_INT_INT;
  if (type == MPI_FLOAT_INT)
    return RGI_KERNEL_FLOAT_INT;
  if (type == MPI_SHORT_INT && IS_PAIR(short, 8, 4))
    return RGI_KERNEL_SHORT_INT;
  if (type == MPI_DOUBLE_INT && IS_PAIR(double, 16, 8))
    return RGI_KERNEL_DOUBLE_INT;
  return type == MPI_LONG_INT && IS_PAIR(long, 16, 8) ? RGI_KERNEL_LONG_INT : RGI_KERNEL_NO_KIND;
}

/* Fortran's types whose size the compiler's options choose: the first kind is that of the smaller
 * size, the second that of twice as many bytes. */
static rgi_kernel_kind fortran_kind(MPI_Datatype type) {
  static const struct {
    MPI_Datatype type;
    int size;
    rgi_kernel_kind small, large;
  } types[] = {
      {MPI_INTEGER, 4, RGI_KERNEL_S32, RGI_KERNEL_S64},
      {MPI_REAL, 4, RGI_KERNEL_FLOAT, RGI_KERNEL_DOUBLE},
      {MPI_DOUBLE_PRECISION, 4, RGI_KERNEL_FLOAT, RGI_KERNEL_DOUBLE},
      {MPI_COMPLEX, 8, RGI_KERNEL_PLAIN_FLOAT_COMPLEX, RGI_KERNEL_PLAIN_DOUBLE_COMPLEX},
      {MPI_DOUBLE_COMPLEX, 8, RGI_KERNEL_PLAIN_FLOAT_COMPLEX, RGI_KERNEL_PLAIN_DOUBLE_COMPLEX},
      {MPI_2INTEGER, 8, RGI_KERNEL_INT_INT, RGI_KERNEL_NO_KIND},
      {MPI_2REAL, 8, RGI_KERNEL_FLOAT_FLOAT, RGI_KERNEL_DOUBLE_DOUBLE},
      {MPI_2DOUBLE_PRECISION, 8, RGI_KERNEL_FLOAT_FLOAT, RGI_KERNEL_DOUBLE_DOUBLE}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].type == type) {
      int size = 0;
      MPI_Type_size(type, &size);
      return size == types[i].size       ? types[i].small
             : size == 2 * types[i].size ? types[i].large
                                         : RGI_KERNEL_NO_KIND;
    }
  return RGI_KERNEL_NO_KIND;
}

/* Bytes and logicals take some of an integer's operations. */
static rgi_kernel_kind byte_kind(MPI_Datatype type, rgi_kernel_op op) {
  int takes = type == MPI_BYTE
                  ? op >= RGI_KERNEL_BAND && op <= RGI_KERNEL_BXOR
                  : (type == MPI_C_BOOL || type == MPI_CXX_BOOL) && sizeof(_Bool) == 1 &&
                        op >= RGI_KERNEL_LAND && op <= RGI_KERNEL_LXOR;
  return takes ? RGI_KERNEL_U8 : RGI_KERNEL_NO_KIND;
}

static rgi_kernel_kind kind_of(MPI_Datatype type, rgi_kernel_op op) {
  int is_of_pairs = op == RGI_KERNEL_MAXLOC || op == RGI_KERNEL_MINLOC;
  rgi_kernel_kind kind = is_of_pairs ? pair_kind(type) : real_kind(type);
  if (kind == RGI_KERNEL_NO_KIND)
    kind = signed_kind(type);
  if (kind == RGI_KERNEL_NO_KIND)
    kind = unsigned_kind(type);
  if (kind == RGI_KERNEL_NO_KIND)
    kind = byte_kind(type, op);
  return kind == RGI_KERNEL_NO_KIND ? fortran_kind(type) : kind;
}

const rgi_kernel *rgi_op_kernel_of(MPI_Datatype type, MPI_Op op) {
  rgi_kernel_op known = op_of(op);
  return rgi_kernel_of(kind_of(type, known), known);
}
