/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MA's types, and the variables from which indices count. A Fortran program has the common blocks
 * of mafdecls.fh itself; the linker makes them one with these, so nothing may bind them here. */
#include "ga/ma.h"

#include <macdecls.h>
#include <regroup/error.h>

/* Aligned to the longest element: memory that is aligned so is a whole number of elements away. */
#define BASE RG_API __attribute__((common, aligned(32)))

BASE char ma_cb_char[2];
BASE int ma_cb_int[2];
BASE long ma_cb_long[2];
BASE long long ma_cb_longlong[2];
BASE float ma_cb_float[2];
BASE double ma_cb_dbl[2];
BASE MA_LongDouble ma_cb_ldbl[2];
BASE MA_SingleComplex ma_cb_scpl[2];
BASE MA_DoubleComplex ma_cb_dcpl[2];
BASE MA_LongDoubleComplex ma_cb_ldcpl[2];

extern char mbc_byte_[2];
extern Integer mbc_int_[2], mbc_log_[2];
extern float mbc_real_[2];
extern double mbc_dbl_[2];
extern MA_SingleComplex mbc_scpl_[2];
extern MA_DoubleComplex mbc_dcpl_[2];

BASE char mbc_byte_[2];
BASE Integer mbc_int_[2], mbc_log_[2];
BASE float mbc_real_[2];
BASE double mbc_dbl_[2];
BASE MA_SingleComplex mbc_scpl_[2];
BASE MA_DoubleComplex mbc_dcpl_[2];

#define TYPE(name, base) [name - MT_BASE] = {sizeof(base)[0], (char *)(base)}

static const struct {
  size_t size;
  char *base;
} types[MT_NUMTYPES] = {
    TYPE(MT_C_CHAR, ma_cb_char),
    TYPE(MT_C_INT, ma_cb_int),
    TYPE(MT_C_LONGINT, ma_cb_long),
    TYPE(MT_C_FLOAT, ma_cb_float),
    TYPE(MT_C_DBL, ma_cb_dbl),
    TYPE(MT_C_LDBL, ma_cb_ldbl),
    TYPE(MT_C_SCPL, ma_cb_scpl),
    TYPE(MT_C_DCPL, ma_cb_dcpl),
    TYPE(MT_C_LDCPL, ma_cb_ldcpl),
    TYPE(MT_F_BYTE, mbc_byte_),
    TYPE(MT_F_INT, mbc_int_),
    TYPE(MT_F_LOG, mbc_log_),
    TYPE(MT_F_REAL, mbc_real_),
    TYPE(MT_F_DBL, mbc_dbl_),
    TYPE(MT_F_SCPL, mbc_scpl_),
    TYPE(MT_F_DCPL, mbc_dcpl_),
    TYPE(MT_C_LONGLONG, ma_cb_longlong),
};

size_t rgi_ma_size(long type) {
  return type < MT_FIRST || type > MT_LAST ? 0 : types[type - MT_BASE].size;
}

char *rgi_ma_base(long type) {
  return rgi_ma_size(type) ? types[type - MT_BASE].base : NULL;
}

int rgi_ma_index(long type, const void *address, long *index) {
  long distance = (const char *)address - rgi_ma_base(type), size = (long)rgi_ma_size(type);
  *index = distance / size;
  return distance % size == 0;
}
