/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Copying and transposing, also between arrays on different groups, of which one holds the other.
 * The members of the smaller group do the copying: they get their part of the target, or put their
 * part of the source (copy_own.h). */
#include <regroup/array_math.h>
#include <regroup/collectives.h>
#include <stdio.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "math/copy_own.h"

/* A copy as the caller knows it: with both operands, or only the one on whose group it is. */
typedef struct {
  const char *call;
  int whole, transposed;
  rg_array a, b;
  rgi_operand from, to;
  int together; /* the groups have the same members */
  int pull;     /* a's group has all members of b's: b's get */
} copying;

static int check_shapes(const copying *c) {
  const rgi_operand *from = &c->from, *to = &c->to;
  int dims = from->a->d.dims, t = c->transposed;
  if (from->a->type != to->a->type || from->a->element != to->a->element)
    return rgi_error(RG_ERR_ARG, "%s: the arrays are of different types", c->call);
  if (t && (dims != 2 || to->a->d.dims != 2))
    return rgi_error(RG_ERR_ARG, "%s: only arrays of 2 dimensions can be transposed", c->call);
  if ((t || c->whole) && dims != to->a->d.dims)
    return rgi_error(RG_ERR_ARG, "%s: %d dimensions against %d", c->call, dims, to->a->d.dims);
  for (int d = 0; (t || c->whole) && d < dims; d++) {
    int e = t ? 1 - d : d;
    int64_t x = from->hi[d] - from->lo[d], y = to->hi[e] - to->lo[e];
    if (x != y)
      return rgi_error(RG_ERR_ARG,
                       "%s: %lld elements in dimension %d, but %lld in dimension %d of the target",
                       c->call, (long long)x, d, (long long)y, e);
  }
  int64_t n = rgi_operand_count(from), m = rgi_operand_count(to);
  if (n != m)
    return rgi_error(RG_ERR_ARG, "%s: one patch has %lld elements, the other %lld", c->call,
                     (long long)n, (long long)m);
  if (t && n > 0 && rgi_operands_same(from, to))
    return rgi_error(RG_ERR_ARG, "%s: a patch cannot be transposed onto itself", c->call);
  return rgi_operands_apart(c->call, from, to);
}

/* Whether every member of `part` is in `all`. */
static int holds_members(rg_group all, rg_group part) {
  int n, there = 0;
  if (rg_group_size(part, &n) != RG_SUCCESS)
    return 0;
  for (int i = 0; i < n; i++)
    if (rg_group_translate(part, 1, &i, all, &there) != RG_SUCCESS || there == RG_UNDEFINED)
      return 0;
  return 1;
}

static int check_groups(copying *c) {
  int how = RG_IDENT;
  if (c->a != c->b)
    RGI_TRY(rg_group_compare(c->a->group, c->b->group, &how));
  c->together = how != RG_UNEQUAL;
  c->pull = c->together || holds_members(c->a->group, c->b->group);
  if (!c->pull && !holds_members(c->b->group, c->a->group))
    return rgi_error(RG_ERR_GROUP, "%s: neither array's group holds the other's members", c->call);
  return RG_SUCCESS;
}

static int check_copy(copying *c, const int64_t alo[], const int64_t ahi[], const int64_t blo[],
                      const int64_t bhi[]) {
  if (c->a)
    RGI_TRY(rgi_operand_make(c->call, c->a, alo, ahi, &c->from));
  if (c->b)
    RGI_TRY(rgi_operand_make(c->call, c->b, blo, bhi, &c->to));
  if (!c->a || !c->b)
    return RG_SUCCESS;
  RGI_TRY(check_groups(c));
  return check_shapes(c);
}

/* On groups of different members: agrees on the error first on a's group, then on b's. The members
 * that are in both have checked all arguments, and carry their result from one to the other. */
static int agree_on_both(const copying *c, int error) {
  for (int i = 0; i < 2; i++) {
    rg_array x = i ? c->b : c->a;
    if (!x)
      continue;
    char where[64];
    snprintf(where, sizeof where, "%s: in the %s's group", c->call, i ? "target" : "source");
    int64_t mine[2] = {rgi_group_error_word(x->group, error), c->a && c->b}, all[2];
    RGI_TRY(rg_allreduce(x->group, mine, all, 2, MPI_INT64_T, MPI_MAX));
    if (all[0])
      error = rgi_group_error_tell(x->group, where, all[0], error);
    else if (!all[1])
      error = rgi_error(RG_ERR_GROUP, "%s: no process is in the groups of both arrays", c->call);
  }
  return error;
}

static int fence_both(const copying *c) {
  if (c->a && !c->a->confirmed)
    RGI_TRY(rgi_array_confirm(c->call, c->a));
  if (c->b && !c->b->confirmed)
    RGI_TRY(rgi_array_confirm(c->call, c->b));
  return rg_array_fence(NULL);
}

static int copy_elements(const copying *c) {
  if (!c->a || !c->b)
    return RG_SUCCESS;
  if (rgi_operand_count(&c->from) == 0 || rgi_operands_same(&c->from, &c->to))
    return RG_SUCCESS;
  return c->pull ? rgi_copy_own(&c->to, &c->from, 1, c->transposed)
                 : rgi_copy_own(&c->from, &c->to, 0, c->transposed);
}

static int copy_arrays(copying *c, const int64_t alo[], const int64_t ahi[], const int64_t blo[],
                       const int64_t bhi[]) {
  if (!c->a && !c->b)
    return rgi_error(RG_ERR_ARRAY, "%s: both arrays are NULL", c->call);
  if (c->a)
    RGI_TRY(rgi_array_check(c->call, c->a));
  if (c->b)
    RGI_TRY(rgi_array_check(c->call, c->b));
  int error = check_copy(c, alo, ahi, blo, bhi);
  if (c->together) {
    const rgi_operand both[2] = {c->from, c->to};
    RGI_TRY(error);
    RGI_TRY(rgi_operands_begin(c->call, 2, both));
    return rgi_operands_end(c->call, 2, both, copy_elements(c));
  }
  if (!error)
    error = fence_both(c);
  RGI_TRY(agree_on_both(c, error));
  error = copy_elements(c);
  if (!error)
    error = fence_both(c);
  return agree_on_both(c, error);
}

int rg_array_copy(rg_array a, rg_array b) {
  copying c = {.call = __func__, .whole = 1, .a = a, .b = b};
  return copy_arrays(&c, NULL, NULL, NULL, NULL);
}

int rg_array_copy_patch(rg_array a, const int64_t alo[], const int64_t ahi[], rg_array b,
                        const int64_t blo[], const int64_t bhi[], int transposed) {
  copying c = {.call = __func__, .transposed = transposed != 0, .a = a, .b = b};
  return copy_arrays(&c, alo, ahi, blo, bhi);
}

int rg_array_transpose(rg_array a, rg_array b) {
  copying c = {.call = __func__, .transposed = 1, .a = a, .b = b};
  return copy_arrays(&c, NULL, NULL, NULL, NULL);
}
