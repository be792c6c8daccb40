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
                     rgi_operand *o) {
  RGI_TRY(rgi_array_check(call, a));
  if (!lo != !hi)
    return rgi_error(RG_ERR_ARG, "%s: one bound of a patch is NULL, the other is not", call);
  if (lo)
    RGI_TRY(rgi_distribution_inside(&a->d, call, lo, hi));
  memset(o, 0, sizeof *o);
  o->a = a;
  for (int d = 0; d < a->d.dims; d++) {
    o->lo[d] = lo ? lo[d] : 0;
    o->hi[d] = hi ? hi[d] : a->d.shape[d];
  }
  return RG_SUCCESS;
}

int64_t rgi_operand_count(const rgi_operand *o) {
  int64_t count = 1;
  for (int d = 0; d < o->a->d.dims; d++)
    count *= o->hi[d] - o->lo[d];
  return count;
}

int rgi_operand_is_whole(const rgi_operand *o) {
  int whole = 1;
  for (int d = 0; d < o->a->d.dims; d++)
    whole = whole && o->lo[d] == 0 && o->hi[d] == o->a->d.shape[d];
  return whole;
}

int rgi_operand_axes(const rgi_operand *o, int axes[]) {
  int n = 0;
  for (int d = 0; d < o->a->d.dims; d++)
    if (o->hi[d] - o->lo[d] != 1)
      axes[n++] = d;
  return n;
}

int rgi_operand_arithmetic(const char *call, const rgi_operand *o) {
  if (o->a->type == RG_TYPE_OPAQUE)
    return rgi_error(RG_ERR_ARG, "%s: there is no arithmetic on RG_TYPE_OPAQUE", call);
  return RG_SUCCESS;
}

int rgi_operands_alike(const char *call, const rgi_operand *o, const rgi_operand *p) {
  int oa[RG_ARRAY_MAX_DIMS], pa[RG_ARRAY_MAX_DIMS];
  if (o->a->type != p->a->type || o->a->element != p->a->element)
    return rgi_error(RG_ERR_ARG, "%s: the arrays are of different types", call);
  int n = rgi_operand_axes(o, oa), m = rgi_operand_axes(p, pa);
  if (n != m)
    return rgi_error(RG_ERR_ARG, "%s: one patch is longer than 1 in %d dimensions, the other in %d",
                     call, n, m);
  for (int i = 0; i < n; i++) {
    int64_t x = o->hi[oa[i]] - o->lo[oa[i]], y = p->hi[pa[i]] - p->lo[pa[i]];
    if (x != y)
      return rgi_error(RG_ERR_ARG,
                       "%s: dimension %d of one array has %lld elements, dimension %d of the "
                       "other %lld",
                       call, oa[i], (long long)x, pa[i], (long long)y);
  }
  return RG_SUCCESS;
}

int rgi_operands_together(const char *call, const rgi_operand *o, const rgi_operand *p) {
  int how = RG_IDENT;
  if (o->a != p->a)
    RGI_TRY(rg_group_compare(o->a->group, p->a->group, &how));
  if (how == RG_UNEQUAL)
    return rgi_error(RG_ERR_GROUP, "%s: the arrays live on groups of different processes", call);
  return RG_SUCCESS;
}

int rgi_operands_same(const rgi_operand *o, const rgi_operand *p) {
  int same = o->a == p->a;
  for (int d = 0; same && d < o->a->d.dims; d++)
    same = o->lo[d] == p->lo[d] && o->hi[d] == p->hi[d];
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

/* A fence completes the accesses to all arrays. */
static int fence_arrays(int n, const rgi_operand o[]) {
  int one_node = 1;
  for (int i = 0; i < n; i++)
    one_node = one_node && o[i].a->one_node;
  return one_node ? RG_SUCCESS : rg_array_fence(NULL);
}

int rgi_operands_begin(const char *call, int n, const rgi_operand o[]) {
  for (int i = 0; i < n; i++)
    if (!o[i].a->confirmed)
      RGI_TRY(rgi_array_confirm(call, o[i].a));
  RGI_TRY(fence_arrays(n, o));
  return rg_barrier(o[0].a->group);
}

int rgi_operands_end(const char *call, int n, const rgi_operand o[], int error) {
  if (!error)
    error = fence_arrays(n, o);
  return rgi_group_error_share(o[0].a->group, call, error);
}
