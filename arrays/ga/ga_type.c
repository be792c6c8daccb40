/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Types of elements. Fortran's integer and logical are C's long: typesf2c.h. */
#include "ga/ga_type.h"

#include <gacommon.h>
#include <stdlib.h>

#include "ga/ga_handle.h"
#include "ga_core.h"

enum { FIRST_REGISTERED = MT_LAST + 1, REGISTERED = 256 };

static const struct {
  int type;
  rg_array_type kind;
  size_t size;
  const char *name;
} types[] = {{C_CHAR, RG_TYPE_OPAQUE, 1, "char"},
             {C_INT, RG_TYPE_INT32, sizeof(int), "integer"},
             {C_LONG, RG_TYPE_INT64, sizeof(long), "long"},
             {C_LONGLONG, RG_TYPE_INT64, sizeof(long long), "long long"},
             {C_FLOAT, RG_TYPE_FLOAT, sizeof(float), "float"},
             {C_DBL, RG_TYPE_DOUBLE, sizeof(double), "double"},
             {C_SCPL, RG_TYPE_FLOAT_COMPLEX, sizeof(SingleComplex), "float (single) complex"},
             {C_DCPL, RG_TYPE_DOUBLE_COMPLEX, sizeof(DoubleComplex), "double complex"},
             {C_LDBL, RG_TYPE_OPAQUE, sizeof(long double), "long double"},
             {C_LDCPL, RG_TYPE_OPAQUE, 2 * sizeof(long double), "long double complex"}};
static size_t registered[REGISTERED]; /* bytes; 0: free */

int rgi_ga_type_of_c(int type) {
  switch (type) {
  case F_BYTE:
    return C_CHAR;
  case F_INT:
  case F_LOG:
    return C_LONG;
  case F_REAL:
    return C_FLOAT;
  case F_DBL:
    return C_DBL;
  case F_SCPL:
    return C_SCPL;
  case F_DCPL:
    return C_DCPL;
  default:
    return type;
  }
}

static int row_of(int type) {
  for (int i = 0; i < (int)(sizeof types / sizeof *types); i++)
    if (types[i].type == type)
      return i;
  return -1;
}

size_t rgi_ga_type_size(int type, rg_array_type *kind) {
  int i = row_of(type);
  *kind = i < 0 ? RG_TYPE_OPAQUE : types[i].kind;
  if (i >= 0)
    return types[i].size;
  return type >= FIRST_REGISTERED && type < FIRST_REGISTERED + REGISTERED
             ? registered[type - FIRST_REGISTERED]
             : 0;
}

const char *rgi_ga_type_name(int type) {
  int i = row_of(type);
  return i < 0 ? "registered" : types[i].name;
}

int rgi_ga_register_type(size_t bytes) {
  for (int i = 0; i < REGISTERED && bytes; i++)
    if (!registered[i]) {
      registered[i] = bytes;
      return FIRST_REGISTERED + i;
    }
  rgi_ga_error_end(__func__, 0, "no further type of %zu bytes; there may be %d", bytes, REGISTERED);
}

int rgi_ga_deregister_type(int type) {
  rg_array_type kind;
  if (type < FIRST_REGISTERED || !rgi_ga_type_size(type, &kind))
    rgi_ga_error_end(__func__, 0, "type %d is not registered", type);
  registered[type - FIRST_REGISTERED] = 0;
  return 1;
}

/* Memory of the process's own. */
void *rgi_ga_getmem(int type, int nelem, int grp_id) {
  rg_array_type kind;
  size_t size = rgi_ga_type_size(rgi_ga_type_of_c(type), &kind);
  (void)grp_id;
  if (!size || nelem < 0)
    rgi_ga_error_end(__func__, 0, "type %d, nelem %d", type, nelem);
  return malloc(size * (size_t)nelem + 1);
}
