/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Types of elements: the numbers of macommon.h, and those that programs register. */
#ifndef RGI_GA_TYPE_H
#define RGI_GA_TYPE_H

#include <regroup/array.h>

/* The number of C's type for one of C's or Fortran's; registered ones stay. */
int rgi_ga_type_of_c(int type);

/* The library's type, and bytes of an element; 0 if there is no such type. */
size_t rgi_ga_type_size(int type, rg_array_type *kind);

/* "double" for C_DBL, for instance. */
const char *rgi_ga_type_name(int type);

#endif
