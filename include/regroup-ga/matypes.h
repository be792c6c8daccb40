/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Types of Global Arrays' memory allocator. */
#ifndef RG_GA_MATYPES_H
#define RG_GA_MATYPES_H

#include "typesf2c.h"

typedef Integer Boolean;
typedef char *Pointer;
typedef long MA_AccessIndex;
typedef long double MA_LongDouble;

typedef struct {
  float dummy[2];
} MA_SingleComplex;

typedef struct {
  double dummy[2];
} MA_DoubleComplex;

typedef struct {
  double dummy[4];
} MA_LongDoubleComplex;

#endif
