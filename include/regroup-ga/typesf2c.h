/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Fortran's types in C, as Global Arrays names them. REGROUP_GA_I4 is defined by the flags of
 * regroup-ga-i4: a Fortran whose integers and logicals have 4 bytes. */
#ifndef RG_GA_TYPESF2C_H
#define RG_GA_TYPESF2C_H

#define FATR

#ifdef REGROUP_GA_I4
typedef int Integer;
#else
typedef long Integer;
#endif
typedef Integer Logical;
typedef Integer logical;
typedef float Real;
typedef double DoublePrecision;
typedef long intp;

typedef struct {
  Real real, imag;
} SingleComplex;

typedef struct {
  DoublePrecision real, imag;
} DoubleComplex;

#endif
