/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of the MPI standard (3.1, section 5.9.2): classes of types, and the classes that each
 * built-in operation takes. MPI is asked for types that are not in the table, and for programs'
 * operations. */
#include "collectives/reduction/op.h"

#include "base/error.h"
#include "runtime/runtime.h"

typedef enum {
  OTHER,
  INTEGER = 1,
  FLOATING = 2,
  COMPLEX = 4,
  LOGICAL = 8,
  BYTES = 16,
  PAIR = 32
} type_class;

static int is_among(MPI_Datatype type, const MPI_Datatype list[], int n) {
  for (int i = 0; i < n; i++)
    if (list[i] == type)
      return 1;
  return 0;
}

#define AMONG(type, ...)                                                                           \
  is_among(type, (const MPI_Datatype[]){__VA_ARGS__},                                              \
           (int)(sizeof((const MPI_Datatype[]){__VA_ARGS__}) / sizeof(MPI_Datatype)))

static type_class class_of_type(MPI_Datatype type) {
  if (AMONG(type, MPI_DOUBLE, MPI_FLOAT, MPI_LONG_DOUBLE))
    return FLOATING;
  if (AMONG(type, MPI_INT, MPI_LONG, MPI_SHORT, MPI_LONG_LONG, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
            MPI_UNSIGNED_SHORT, MPI_UNSIGNED_LONG_LONG, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR,
            MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T,
            MPI_UINT32_T, MPI_UINT64_T, MPI_AINT, MPI_COUNT, MPI_OFFSET))
    return INTEGER;
  if (AMONG(type, MPI_C_BOOL))
    return LOGICAL;
  if (AMONG(type, MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
            MPI_C_LONG_DOUBLE_COMPLEX))
    return COMPLEX;
  if (AMONG(type, MPI_BYTE))
    return BYTES;
  if (AMONG(type, MPI_2INT, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT,
            MPI_LONG_DOUBLE_INT))
    return PAIR;
  return OTHER;
}

/* The kinds that a built-in operation takes; 0: the user's own. */
static int classes_taken(MPI_Op op) {
  if (op == MPI_SUM || op == MPI_PROD)
    return INTEGER | FLOATING | COMPLEX;
  if (op == MPI_MAX || op == MPI_MIN)
    return INTEGER | FLOATING;
  if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
    return INTEGER | BYTES;
  if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)
    return INTEGER | LOGICAL;
  if (op == MPI_MAXLOC || op == MPI_MINLOC)
    return PAIR;
  return 0;
}

int rgi_op_is_users(MPI_Op op) {
  return op != MPI_SUM && !classes_taken(op);
}

/* A reduction of one process touches no memory. */
static int mpi_takes(MPI_Datatype type, MPI_Op op) {
  MPI_Comm self = rgi_runtime_self();
  int none[2];
  return self == MPI_COMM_NULL ||
         PMPI_Allreduce(&none[0], &none[1], 0, type, op, self) == MPI_SUCCESS;
}

int rgi_op_check(const char *call, MPI_Datatype type, MPI_Op op) {
  if (type == MPI_DOUBLE && op == MPI_SUM)
    return RG_SUCCESS;
  if (op == MPI_OP_NULL)
    return rgi_error(RG_ERR_ARG, "%s: the operation is MPI_OP_NULL", call);
  if (op == MPI_REPLACE || op == MPI_NO_OP)
    return rgi_error(RG_ERR_ARG, "%s: MPI_REPLACE and MPI_NO_OP are no reductions", call);
  int wanted = classes_taken(op), is = wanted ? (int)class_of_type(type) : 0;
  if ((is & wanted) || (is == OTHER && mpi_takes(type, op)))
    return RG_SUCCESS;
  return rgi_error(RG_ERR_ARG,
                   "%s: MPI takes no such operation on this type; for a derived type make one "
                   "with MPI_Op_create",
                   call);
}
