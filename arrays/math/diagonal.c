/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The diagonal of a matrix against a vector or a number. Each member takes the elements in its own
 * blocks of the matrix, and gets or puts the vector's. */
#include "math/diagonal.h"

#include <regroup/array_math.h>
#include <stdlib.h>
#include <string.h>

#include "access/patch.h"
#include "base/error.h"

/* --- the caller's part -------------------------------------------------------------------- */

int rgi_diagonal_check(const char *call, const rgi_operand *operand) {
  return operand->a->d.dims == 2 ? RG_SUCCESS
                                 : rgi_error(RG_ERR_ARG, "%s: the array has %d dimensions, not 2",
                                             call, operand->a->d.dims);
}

void rgi_diagonal_start(rgi_diagonal *part, const rgi_operand *operand) {
  part->operand = operand;
  rgi_own_start(&part->own, operand);
}

int rgi_diagonal_next(rgi_diagonal *part) {
  rgi_piece piece;
  while (rgi_pieces_next(&part->own, &piece)) {
    int64_t first = piece.lo[0] > piece.lo[1] ? piece.lo[0] : piece.lo[1];
    int64_t end = piece.hi[0] < piece.hi[1] ? piece.hi[0] : piece.hi[1];
    int64_t element = (int64_t)part->operand->a->element;
    if (first >= end)
      continue;
    part->first = first;
    part->n = end - first;
    part->step = (piece.ld[0] + 1) * element;
    part->ptr = rgi_own_memory(part->operand, &piece) +
                ((first - piece.lo[0]) * piece.ld[0] + first - piece.lo[1]) * element;
    return 1;
  }
  return 0;
}

/* --- get, set and add ----------------------------------------------------------------------- */

/* What the diagonal is set to, or what is added to it, for the caller's part; or room for it. */
static int fetch_values(const rgi_diagonal *part, rg_array v, const void *value, int get,
                        char *values) {
  size_t element = part->operand->a->element;
  const int64_t end = part->first + part->n;
  if (get)
    return RG_SUCCESS;
  if (v)
    return rg_array_get(v, &part->first, &end, values, NULL);
  for (int64_t i = 0; i < part->n; i++)
    memcpy(values + i * (int64_t)element, value, element);
  return RG_SUCCESS;
}

static int work_on_part(const rgi_diagonal *part, rg_diagonal_operation op, rg_array v,
                        const void *value, char *values) {
  rg_array a = part->operand->a;
  const int64_t end = part->first + part->n, element = (int64_t)a->element;
  rgi_strided diagonal = rgi_strided_flat(element);
  rgi_strided_add(&diagonal, part->n, element, part->step);
  RGI_TRY(fetch_values(part, v, value, op == RG_DIAGONAL_GET, values));
  switch (op) {
  case RG_DIAGONAL_GET:
    rgi_patch_get(&diagonal, part->ptr, values);
    return rg_array_put(v, &part->first, &end, values, NULL);
  case RG_DIAGONAL_SET:
    rgi_patch_put(&diagonal, part->ptr, values);
    return RG_SUCCESS;
  default:
    rgi_patch_accumulate(a->type, &diagonal, part->ptr, values, NULL);
    return RG_SUCCESS;
  }
}

static int work_on_parts(const rgi_operand *operand, rg_diagonal_operation op, rg_array v,
                         const void *value) {
  int error = RG_SUCCESS;
  rgi_diagonal part;
  for (rgi_diagonal_start(&part, operand); !error && rgi_diagonal_next(&part);) {
    char *values = malloc((size_t)part.n * operand->a->element);
    error = values ? work_on_part(&part, op, v, value, values)
                   : rgi_error(RG_ERR_NOMEM, "no memory for %lld elements", (long long)part.n);
    free(values);
  }
  return error;
}

static int check_vector(const char *call, const rgi_operand *operand, const rgi_operand *vector) {
  const int64_t *shape = operand->a->d.shape;
  int64_t n = shape[0] < shape[1] ? shape[0] : shape[1];
  if (vector->a->type != operand->a->type || vector->a->element != operand->a->element)
    return rgi_error(RG_ERR_ARG, "%s: the arrays are of different types", call);
  if (vector->a->d.dims != 1 || vector->a->d.shape[0] != n)
    return rgi_error(RG_ERR_ARG, "%s: v is no array of one dimension with %lld elements", call,
                     (long long)n);
  return rgi_operands_together(call, vector, operand);
}

int rg_array_diagonal(rg_diagonal_operation op, rg_array a, rg_array v, const void *value) {
  rgi_operand operand[2];
  int n = v ? 2 : 1;
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand[0]));
  RGI_TRY(rgi_diagonal_check(__func__, &operand[0]));
  if ((int)op < RG_DIAGONAL_GET || op > RG_DIAGONAL_ADD)
    return rgi_error(RG_ERR_ARG, "%s: there is no operation %d", __func__, (int)op);
  if (op == RG_DIAGONAL_ADD)
    RGI_TRY(rgi_operand_arithmetic(__func__, &operand[0]));
  if (!v && (op == RG_DIAGONAL_GET || !value))
    return rgi_error(RG_ERR_ARG, "%s: v is NULL%s", __func__,
                     op == RG_DIAGONAL_GET ? "" : ", and value too");
  if (v) {
    RGI_TRY(rgi_operand_make(__func__, v, NULL, NULL, &operand[1]));
    RGI_TRY(check_vector(__func__, &operand[0], &operand[1]));
  }
  RGI_TRY(rgi_operands_begin(__func__, n, operand));
  return rgi_operands_end(__func__, n, operand, work_on_parts(&operand[0], op, v, value));
}
