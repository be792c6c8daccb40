/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the norms and their reproducible versions have in common. */
#ifndef RGI_NORM_H
#define RGI_NORM_H

#include <regroup/array_math.h>

#include "math/operand.h"

int rgi_norm_check(const char *call, const rgi_operand *operand, rg_norm_kind norm,
                   const double *result);

/* The greatest absolute value of all members' elements; a NaN if there is one. */
int rgi_norm_greatest(const rgi_operand *operand, double *greatest);

/* Whether elements may have been too great or too small for a sum of squares in doubles. */
int rgi_norm_out_of_range(double squares);

/* The root of the sum of squares of all members' elements, all of which are scaled by
 * a power of 2 first. squares: their sum times scale^2. */
typedef int rgi_norm_squares(const rgi_operand *operand, double scale, double *sum);
int rgi_norm_2_scaled(const rgi_operand *operand, rgi_norm_squares *squares, double *result);

#endif
