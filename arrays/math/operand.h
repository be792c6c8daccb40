/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Patches as operands of an operation on arrays: the checks on them, and the synchronisation before
 * and after the operation. */
#ifndef RGI_MATH_OPERAND_H
#define RGI_MATH_OPERAND_H

#include <regroup/array_math.h>

#include "object/array.h"

#define RGI_MATH_OPERANDS 4 /* of one call, at most */

typedef struct {
  rg_array a;
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
} rgi_operand;

/* The operand for a call of the public function `call`: checks the array and the
 * patch (NULL, NULL: all). */
int rgi_operand_make(const char *call, rg_array a, const int64_t lo[], const int64_t hi[],
                     rgi_operand *operand);
int64_t rgi_operand_count(const rgi_operand *operand);
int rgi_operand_is_whole(const rgi_operand *operand);

/* The dimensions in which the patch is longer than 1, in order, and how many. */
int rgi_operand_axes(const rgi_operand *operand, int axes[]);

/* RG_ERR_ARG unless the type is one for arithmetic. */
int rgi_operand_arithmetic(const char *call, const rgi_operand *operand);

/* RG_ERR_ARG unless types, and extents other than 1, are the same. */
int rgi_operands_alike(const char *call, const rgi_operand *operand, const rgi_operand *other);

/* RG_ERR_GROUP unless the arrays are on the same processes, in any order. */
int rgi_operands_together(const char *call, const rgi_operand *operand, const rgi_operand *other);

/* Whether both are the same patch of the same array. */
int rgi_operands_same(const rgi_operand *operand, const rgi_operand *other);

/* RG_ERR_ARG if `to`, which is written, and `from` overlap without being the same patch. */
int rgi_operands_apart(const char *call, const rgi_operand *from, const rgi_operand *to);

/* The operands for a call that writes the first of n patches, element by element as a function of
 * the others: all checks on them. */
int rgi_operands_make(const char *call, int n, const rg_array_patch patch[], rgi_operand operand[]);

/* The effect of rg_array_sync on n operands of the same processes. */
int rgi_operands_begin(const char *call, int n, const rgi_operand operand[]);

/* As rgi_operands_begin at the end. error: the caller's own; all return that of the lowest rank
 * that has one. An operation that has put nothing calls rgi_group_error_share instead. */
int rgi_operands_end(const char *call, int n, const rgi_operand operand[], int error);

#endif
