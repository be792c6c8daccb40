/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Broadcasts and reductions of buffers among the members of a group. */
#include <math.h>
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "ga/ga_group.h"
#include "ga/ga_handle.h"
#include "ga/ga_type.h"
#include "ga_core.h"

void rgi_ga_brdcst(void *buf, int lenbuf, int root) {
  RGI_GA_TRY(
      0, rg_bcast(rgi_ga_group_of(__func__, rgi_ga_group_default), buf, lenbuf, MPI_BYTE, root));
}

void rgi_ga_pgroup_brdcst(int grp, void *buf, int lenbuf, int root) {
  RGI_GA_TRY(0, rg_bcast(rgi_ga_group_of(__func__, grp), buf, lenbuf, MPI_BYTE, root));
}

static MPI_Datatype mpi_type(const char *call, int type) {
  switch (rgi_ga_type_of_c(type)) {
  case C_INT:
    return MPI_INT;
  case C_LONG:
    return MPI_LONG;
  case C_LONGLONG:
    return MPI_LONG_LONG;
  case C_FLOAT:
    return MPI_FLOAT;
  case C_DBL:
    return MPI_DOUBLE;
  case C_SCPL:
    return MPI_C_FLOAT_COMPLEX;
  case C_DCPL:
    return MPI_C_DOUBLE_COMPLEX;
  default:
    rgi_ga_error_end(call, 0, "elements of type %d cannot be combined", type);
  }
}

/* Values whose absolute values are compared; the result is that absolute value. */
#define EXTREME(kind, absolute)                                                                    \
  for (int i = 0; i < *n; i++) {                                                                   \
    kind a = absolute(((kind *)in)[i]), b = absolute(((kind *)out)[i]);                            \
    ((kind *)out)[i] = (a > b) == greatest ? a : b;                                                \
  }

static void extreme(void *in, void *out, const int *n, MPI_Datatype type, int greatest) {
  if (type == MPI_INT)
    EXTREME(int, abs)
  else if (type == MPI_LONG)
    EXTREME(long, labs)
  else if (type == MPI_LONG_LONG)
    EXTREME(long long, llabs)
  else if (type == MPI_FLOAT)
    EXTREME(float, fabsf)
  else
    EXTREME(double, fabs)
}

static void absmax(void *in, void *out, int *n, MPI_Datatype *type) {
  extreme(in, out, n, *type, 1);
}

static void absmin(void *in, void *out, int *n, MPI_Datatype *type) {
  extreme(in, out, n, *type, 0);
}

static const struct {
  const char *name;
  MPI_Op op;
  MPI_User_function *own; /* in place of op */
} operations[] = {{"+", MPI_SUM, NULL},           {"*", MPI_PROD, NULL},
                  {"max", MPI_MAX, NULL},         {"min", MPI_MIN, NULL},
                  {"or", MPI_BOR, NULL},          {"&&", MPI_LAND, NULL},
                  {"||", MPI_LOR, NULL},          {"&", MPI_BAND, NULL},
                  {"|", MPI_BOR, NULL},           {"absmax", MPI_OP_NULL, absmax},
                  {"absmin", MPI_OP_NULL, absmin}};

void rgi_ga_group_reduce(const char *call, int number, int type, void *x, int n, const char *op) {
  MPI_Datatype kind = mpi_type(call, type);
  size_t i = 0, known = sizeof operations / sizeof *operations;
  while (i < known && strncmp(op, operations[i].name, strlen(operations[i].name)) != 0)
    i++;
  if (i == known)
    rgi_ga_error_end(call, 0, "op is \"%.20s\"", op);
  MPI_Op use = operations[i].op;
  if (operations[i].own)
    MPI_Op_create(operations[i].own, 1, &use);
  int code = rg_allreduce(rgi_ga_group_of(call, number), MPI_IN_PLACE, x, n, kind, use);
  if (operations[i].own)
    MPI_Op_free(&use);
  rgi_ga_error_check(call, 0, code);
}

void rgi_ga_gop(int type, void *x, int n, const char *op) {
  rgi_ga_group_reduce(__func__, rgi_ga_group_default, type, x, n, op);
}

#define GOP(letter, kind, type)                                                                    \
  void rgi_ga_##letter##gop(kind x[], int n, const char *op) {                                     \
    rgi_ga_group_reduce(__func__, rgi_ga_group_default, type, x, n, op);                           \
  }                                                                                                \
  void rgi_ga_pgroup_##letter##gop(int grp, kind x[], int n, const char *op) {                     \
    rgi_ga_group_reduce(__func__, grp, type, x, n, op);                                            \
  }
GOP(i, int, C_INT)
GOP(l, long, C_LONG)
GOP(ll, long long, C_LONGLONG)
GOP(f, float, C_FLOAT)
GOP(d, double, C_DBL)
GOP(c, SingleComplex, C_SCPL)
GOP(z, DoubleComplex, C_DCPL)
