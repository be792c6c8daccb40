/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Parts of op(m), where m is the patch of a matrix and op() its form: rows and columns are
 * counted from 0 in op(m), whatever the form and wherever the patch is in its array. */
#ifndef RGI_SECTION_H
#define RGI_SECTION_H

#include <regroup/array_math.h>

#include "distribution/piece.h"
#include "math/operand.h"

/* Rows i0 to i1 - 1 and columns k0 to k1 - 1 of op(o). */
typedef struct {
  int64_t i0, i1, k0, k1;
} rgi_section;

/* The patch of operand's array that a section is, and the section that a piece of it is. */
void rgi_section_patch(const rgi_operand *operand, rg_array_form form, rgi_section part,
                       int64_t lo[2], int64_t hi[2]);
rgi_section rgi_section_of(const rgi_operand *operand, rg_array_form form, const rgi_piece *piece);

#endif
