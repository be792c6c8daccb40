/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * rg_array_regroup: the members of both groups agree on the two sides, make the new array, move the
 * elements, agree that all have succeeded, and free the old array, which is unchanged until then.
 */
#include <limits.h>
#include <regroup/array_regroup.h>
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/sized.h"
#include "collectives/calls/group_error.h"
#include "distribution/spec.h"
#include "object/array.h"
#include "regroup/redistribute.h"

typedef struct {
  rg_group both; /* a duplicate: its messages cannot match the program's */
  int me;
  rg_array a, b;
  rg_group to;
  rgi_side from_side, to_side;
} regrouping;

/* All return an error if one has one. */
static int share_error(const regrouping *h, int error) {
  return rgi_group_error_share(h->both, RGI_REDISTRIBUTE_WHERE, error);
}

/* For each side the lowest rank of both that is on it. */
static int find_roots(regrouping *h, int error, int roots[2]) {
  enum { NONE = INT_MIN };
  int64_t found[3] = {h->a ? -h->me : NONE, h->to ? -h->me : NONE,
                      rgi_group_error_word(h->both, error)};
  RGI_TRY(rg_allreduce(h->both, MPI_IN_PLACE, found, 3, MPI_INT64_T, MPI_MAX));
  RGI_TRY(rgi_group_error_tell(h->both, RGI_REDISTRIBUTE_WHERE, found[2], error));
  for (int side = 0; side < 2; side++) {
    if (found[side] == NONE)
      return rgi_error(RG_ERR_ARG, side ? "rg_array_regroup: no member of both is in `to`"
                                        : "rg_array_regroup: no member of both has the array");
    roots[side] = -(int)found[side];
  }
  return RG_SUCCESS;
}

/* The new side's shape and type are those of the old array, which new processes learn only with the
 * old side: so the old side is described and broadcast first. */
static int describe_old(regrouping *h) {
  rg_array_spec spec = {.size = sizeof spec};
  rg_group g;
  RGI_TRY(rg_array_info(h->a, &spec));
  RGI_TRY(rg_array_group(h->a, &g));
  return rgi_side_known(&spec, g, h->both, &h->from_side);
}

static int describe_new(regrouping *h, const rg_array_spec *wanted) {
  const rg_array_spec *old = &h->from_side.spec;
  rg_array_spec spec = {.size = sizeof spec, .layout = RG_LAYOUT_BLOCK};
  int members;
  if (wanted)
    spec = *wanted;
  else {
    memcpy(spec.ghosts, old->ghosts, sizeof spec.ghosts);
    memcpy(spec.periodic, old->periodic, sizeof spec.periodic);
    spec.flags = old->flags;
  }
  spec.dims = old->dims;
  spec.type = old->type;
  spec.element_size = old->element_size;
  memcpy(spec.shape, old->shape, sizeof spec.shape);
  RGI_TRY(rg_group_size(h->to, &members));
  RGI_TRY(rgi_spec_check(&spec, members));
  return rgi_side_known(&spec, h->to, h->both, &h->to_side);
}

/* Whether the caller gave what a member of the two groups has to. */
static int check_part(const regrouping *h) {
  int old = rgi_side_rank(&h->from_side, h->me), new = rgi_side_rank(&h->to_side, h->me);
  if ((old >= 0) != (h->a != NULL))
    return rgi_error(RG_ERR_MISMATCH,
                     "rg_array_regroup: the caller is %s the array's group, but "
                     "has %s",
                     old >= 0 ? "in" : "not in", h->a ? "given an array" : "not given the array");
  if ((new >= 0) != (h->to != NULL))
    return rgi_error(RG_ERR_MISMATCH,
                     "rg_array_regroup: the caller is %s the new group, but has "
                     "given %s",
                     new >= 0 ? "in" : "not in", h->to ? "one" : "NULL for it");
  return RG_SUCCESS;
}

static int tell_sides(regrouping *h, int error, const rg_array_spec *wanted) {
  int roots[2] = {0, 0};
  if (!error && h->a)
    error = describe_old(h);
  RGI_TRY(find_roots(h, error, roots));
  RGI_TRY(share_error(h, rgi_side_spread(h->both, roots[0], &h->from_side)));
  RGI_TRY(share_error(h, h->to ? describe_new(h, wanted) : RG_SUCCESS));
  RGI_TRY(share_error(h, rgi_side_spread(h->both, roots[1], &h->to_side)));
  return share_error(h, check_part(h));
}

static int move_elements(regrouping *h) {
  int error = h->to ? rg_array_create(h->to, &h->to_side.spec, &h->b) : RG_SUCCESS;
  if (!error && h->a)
    error = rg_array_fence(h->a);
  RGI_TRY(share_error(h, error));
  return share_error(h, rgi_redistribute(&(rgi_redistribute_call){.both = h->both,
                                                                  .me = h->me,
                                                                  .from = &h->from_side,
                                                                  .to = &h->to_side,
                                                                  .a = h->a,
                                                                  .b = h->b}));
}

/* The elements of a mirrored array are copied before the old one, which has copies, is freed. */
static int copy_mirrored(regrouping *h) {
  if (!(h->to_side.spec.flags & RG_ARRAY_MIRRORED))
    return RG_SUCCESS;
  return share_error(h, h->b ? rg_array_sync(h->b) : RG_SUCCESS);
}

static int check_arguments(const rg_array *a, rg_group to) {
  if (!a)
    return rgi_error(RG_ERR_ARG, "rg_array_regroup: a is NULL");
  if (*a)
    RGI_TRY(rgi_array_check("rg_array_regroup", *a));
  if (!*a && !to)
    return rgi_error(RG_ERR_ARG, "rg_array_regroup: the caller has neither the array nor a place "
                                 "in the new group");
  return RG_SUCCESS;
}

int rg_array_regroup(rg_group both, rg_group to, const rg_array_spec *spec, rg_array *a) {
  rg_array_spec own;
  regrouping h = {.to = to};
  if (!both)
    return rgi_error(RG_ERR_GROUP, "rg_array_regroup: both is NULL");
  RGI_TRY(rg_group_dup(both, &h.both));
  int error = rg_group_rank(both, &h.me);
  int wrong = check_arguments(a, to); /* the other members learn of it in tell_sides */
  if (!wrong && spec)
    wrong = rgi_sized_take(&own, sizeof own, spec, "rg_array_regroup: spec");
  h.a = a && !wrong ? *a : NULL;
  if (!error)
    error = tell_sides(&h, wrong, spec ? &own : NULL);
  if (!error)
    error = move_elements(&h);
  if (!error)
    error = copy_mirrored(&h);
  rgi_side_clear(&h.from_side);
  rgi_side_clear(&h.to_side);
  rg_group_free(&h.both);
  if (error) {
    rg_array_free(&h.b);
    return error;
  }
  *a = h.b;
  if (rg_array_free(&h.a))
    rgi_log(RGI_LOG_WARN, "rg_array_regroup: the old array is not freed: %s", rg_error_detail());
  return RG_SUCCESS;
}
