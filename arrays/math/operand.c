/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Operations are collective over the processes of their arrays. The synchronisation is a fence and
 * an exchange of errors, which is a barrier as well: after it all members have returned the same
 * result. */
#include "math/operand.h"

#include <regroup/collectives.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"

int rgi_operand_make(const char *call, rg_array a, const int64_t lo[], const int64_t hi[],
                     rgi_operand *operand) {
  RGI_TRY(rgi_array_check(call, a));
  if (!lo != !hi)
    return rgi_error(RG_ERR_ARG, "%s: one bound of a patch is NULL, the other is not", call);
  if (lo)
    RGI_TRY(rgi_distribution_inside(&a->d, call, lo, hi));
  memset(operand, 0, sizeof *operand);
  operand->a = a;
  for (int d = 0; d < a->d.dims; d++) {
    operand->lo[d] = lo ? lo[d] : 0;
    operand->hi[d] = hi ? hi[d] : a->d.shape[d];
  }
  return RG_SUCCESS;
}

int64_t rgi_operand_count(const rgi_operand *operand) {
  int64_t count = 1;
  for (int d = 0; d < operand->a->d.dims; d++)
    count *= operand->hi[d] - operand->lo[d];
  return count;
}

int rgi_operand_is_whole(const rgi_operand *operand) {
  int whole = 1;
  for (int d = 0; d < operand->a->d.dims; d++)
    whole = whole && operand->lo[d] == 0 && operand->hi[d] == operand->a->d.shape[d];
  return whole;
}

int rgi_operand_axes(const rgi_operand *operand, int axes[]) {
  int n = 0;
  for (int d = 0; d < operand->a->d.dims; d++)
    if (operand->hi[d] - operand->lo[d] != 1)
      axes[n++] = d;
  return n;
}

int rgi_operand_arithmetic(const char *call, const rgi_operand *operand) {
  if (operand->a->type == RG_TYPE_OPAQUE)
    return rgi_error(RG_ERR_ARG, "%s: there is no arithmetic on RG_TYPE_OPAQUE", call);
  return RG_SUCCESS;
}

int rgi_operands_alike(const char *call, const rgi_operand *operand, const rgi_operand *other) {
  int oa[RG_ARRAY_MAX_DIMS], pa[RG_ARRAY_MAX_DIMS];
  if (operand->a->type != other->a->type || operand->a->element != other->a->element)
    return rgi_error(RG_ERR_ARG, "%s: the arrays are of different types", call);
  int n = rgi_operand_axes(operand, oa), m = rgi_operand_axes(other, pa);
  if (n != m)
    return rgi_error(RG_ERR_ARG, "%s: one patch is longer than 1 in %d dimensions, the other in %d",
                     call, n, m);
  for (int i = 0; i < n; i++) {
    int64_t x = operand->hi[oa[i]] - operand->lo[oa[i]], y = other->hi[pa[i]] - other->lo[pa[i]];
    if (x != y)
      return rgi_error(RG_ERR_ARG,
                       "%s: dimension %d of one array has %lld elements, dimension %d of the "
                       "other %lld",
                       call, oa[i], (long long)x, pa[i], (long long)y);
  }
  return RG_SUCCESS;
}

int rgi_operands_together(const char *call, const rgi_operand *operand, const rgi_operand *other) {
  int how = RG_IDENT;
  if (operand->a != other->a)
    RGI_TRY(rg_group_compare(operand->a->group, other->a->group, &how));
  if (how == RG_UNEQUAL)
    return rgi_error(RG_ERR_GROUP, "%s: the arrays live on groups of different processes", call);
  return RG_SUCCESS;
}

int rgi_operands_same(const rgi_operand *operand, const rgi_operand *other) {
  int same = operand->a == other->a;
  for (int d = 0; same && d < operand->a->d.dims; d++)
    same = operand->lo[d] == other->lo[d] && operand->hi[d] == other->hi[d];
  return same;
}

int rgi_operands_apart(const char *call, const rgi_operand *from, const rgi_operand *to) {
  int overlap = from->a == to->a && !rgi_operands_same(from, to);
  for (int d = 0; overlap && d < to->a->d.dims; d++)
    overlap = from->lo[d] < to->hi[d] && to->lo[d] < from->hi[d];
  if (overlap && rgi_operand_count(from) && rgi_operand_count(to))
    return rgi_error(RG_ERR_ARG, "%s: two patches of one array overlap and are not the same", call);
  return RG_SUCCESS;
}

int rgi_operands_make(const char *call, int n, const rg_array_patch patch[],
                      rgi_operand operand[]) {
  if (!patch)
    return rgi_error(RG_ERR_ARG, "%s: patch is NULL", call);
  if (n < 1 || n > RGI_MATH_OPERANDS)
    return rgi_error(RG_ERR_ARG, "%s: %d patches; there may be 1 to %d", call, n,
                     RGI_MATH_OPERANDS);
  for (int k = 0; k < n; k++)
    RGI_TRY(rgi_operand_make(call, patch[k].array, patch[k].lo, patch[k].hi, &operand[k]));
  for (int k = 1; k < n; k++) {
    RGI_TRY(rgi_operands_alike(call, &operand[k], &operand[0]));
    RGI_TRY(rgi_operands_together(call, &operand[k], &operand[0]));
    RGI_TRY(rgi_operands_apart(call, &operand[k], &operand[0]));
  }
  return RG_SUCCESS;
}

/* A fence completes the accesses to all arrays. */
static int fence_arrays(int n, const rgi_operand operand[]) {
  int one_node = 1;
  for (int i = 0; i < n; i++)
    one_node = one_node && operand[i].a->one_node;
  return one_node ? RG_SUCCESS : rg_array_fence(NULL);
}

int rgi_operands_begin(const char *call, int n, const rgi_operand operand[]) {
  for (int i = 0; i < n; i++)
    if (!operand[i].a->confirmed)
      RGI_TRY(rgi_array_confirm(call, operand[i].a));
  RGI_TRY(fence_arrays(n, operand));
  return rg_barrier(operand[0].a->group);
}

int rgi_operands_end(const char *call, int n, const rgi_operand operand[], int error) {
  if (!error)
    error = fence_arrays(n, operand);
  return rgi_group_error_share(operand[0].a->group, call, error);
}
