/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Copies. Between arrays on different groups Global Arrays has only the members of the smaller
 * group call, where the library has those of both. There the elements go through an array on the
 * smaller group. */
#include <regroup/array_math.h>
#include <regroup/collectives.h>
#include <string.h>

#include "ga/ga_patch.h"
#include "ga_core.h"

static void synchronise(const char *call, int g, rg_group group) {
  rgi_ga_error_check(call, g, rg_array_fence(NULL));
  rgi_ga_error_check(call, g, rg_barrier(group));
}

/* A new array like g's on the group, with the extents of the patch. */
static rg_array array_for(const char *call, int g, const int64_t lo[], const int64_t end[],
                          rg_group group) {
  rg_array_spec of = {.size = sizeof of}, spec = {.size = sizeof spec};
  int64_t shape[RG_ARRAY_MAX_DIMS];
  rg_array made = NULL;
  rgi_ga_error_check(call, g, rg_array_info(rgi_ga_handle_array(call, g), &of));
  for (int d = 0; d < of.dims; d++)
    shape[d] = end[d] - lo[d];
  rgi_ga_error_check(call, g, rg_array_spec_set(&spec, of.type, of.dims, shape));
  spec.element_size = of.element_size;
  rgi_ga_error_check(call, g, rg_array_create(group, &spec, &made));
  return made;
}

/* The caller's part of `part`, which stands for the patch of g from lo on: gets it, or puts it. */
static void move_own(const char *call, int g, const int64_t lo[], rg_array part, rg_group group,
                     int pull) {
  int64_t own[RG_ARRAY_MAX_DIMS], end[RG_ARRAY_MAX_DIMS], ld[RG_ARRAY_MAX_DIMS];
  int64_t at[RG_ARRAY_MAX_DIMS], behind[RG_ARRAY_MAX_DIMS];
  int rank, dims = rgi_ga_handle_dims(g);
  void *memory;
  rgi_ga_error_check(call, g, rg_group_rank(group, &rank));
  rgi_ga_error_check(call, g, rg_array_distribution(part, rank, own, end));
  for (int d = 0; d < dims; d++) {
    if (own[d] >= end[d])
      return;
    at[d] = lo[d] + own[d];
    behind[d] = lo[d] + end[d];
  }
  rgi_ga_error_check(call, g, rg_array_access(part, own, end, RG_ACCESS_READ_WRITE, &memory, ld));
  rg_array array = rgi_ga_handle_array(call, g);
  rgi_ga_error_check(call, g,
                     pull ? rg_array_get(array, at, behind, memory, ld)
                          : rg_array_put(array, at, behind, memory, ld));
  rgi_ga_error_check(call, g, rg_array_release(part, own, end));
}

/* The smaller one of different groups; NULL if the arrays are on the same processes. */
static rg_group smaller_group(const char *call, int g_a, int g_b, int *pull) {
  rg_group a, b;
  int how, in_a, in_b;
  rgi_ga_error_check(call, g_a, rg_array_group(rgi_ga_handle_array(call, g_a), &a));
  rgi_ga_error_check(call, g_b, rg_array_group(rgi_ga_handle_array(call, g_b), &b));
  rgi_ga_error_check(call, g_a, rg_group_compare(a, b, &how));
  if (how != RG_UNEQUAL)
    return NULL;
  rgi_ga_error_check(call, g_a, rg_group_size(a, &in_a));
  rgi_ga_error_check(call, g_b, rg_group_size(b, &in_b));
  *pull = in_a > in_b;
  return *pull ? b : a;
}

/* The patches and how a is copied to b. */
typedef struct {
  int g_a, g_b;
  const int64_t *alo, *aend, *blo, *bend;
  int transposed;
} patch_copy;

static void copy_patch(const char *call, const patch_copy *p) {
  rg_array a = rgi_ga_handle_array(call, p->g_a), b = rgi_ga_handle_array(call, p->g_b), part;
  int pull;
  rg_group group = smaller_group(call, p->g_a, p->g_b, &pull);
  if (!group) {
    rgi_ga_error_check(call, p->g_a,
                       rg_array_copy_patch(a, p->alo, p->aend, b, p->blo, p->bend, p->transposed));
    return;
  }
  synchronise(call, p->g_a, group);
  if (pull) {
    part = array_for(call, p->g_a, p->alo, p->aend, group);
    move_own(call, p->g_a, p->alo, part, group, 1);
    rgi_ga_error_check(call, p->g_b,
                       rg_array_copy_patch(part, NULL, NULL, b, p->blo, p->bend, p->transposed));
  } else {
    part = array_for(call, p->g_b, p->blo, p->bend, group);
    rgi_ga_error_check(call, p->g_a,
                       rg_array_copy_patch(a, p->alo, p->aend, part, NULL, NULL, p->transposed));
    move_own(call, p->g_b, p->blo, part, group, 0);
    synchronise(call, p->g_a, group);
  }
  rgi_ga_error_check(call, p->g_a, rg_array_free(&part));
}

void rgi_ga_copy(int g_a, int g_b) {
  static const int64_t zero[RG_ARRAY_MAX_DIMS];
  rg_array_spec a = {.size = sizeof a}, b = {.size = sizeof b};
  RGI_GA_TRY(g_a, rg_array_info(RGI_GA_ARRAY(g_a), &a));
  RGI_GA_TRY(g_b, rg_array_info(RGI_GA_ARRAY(g_b), &b));
  if (a.dims != b.dims || memcmp(a.shape, b.shape, (size_t)a.dims * sizeof *a.shape) != 0)
    rgi_ga_error_end(__func__, g_a, "the arrays have different shapes");
  copy_patch(__func__, &(patch_copy){g_a, g_b, zero, a.shape, zero, b.shape, 0});
}

void rgi_ga_copy_patch(char trans, int g_a, const int64_t alo[], const int64_t ahi[], int g_b,
                       const int64_t blo[], const int64_t bhi[]) {
  rgi_ga_patch a = RGI_GA_PATCH(g_a, ahi), b = RGI_GA_PATCH(g_b, bhi);
  int transposed = (trans == 't' || trans == 'T') && rgi_ga_handle_dims(g_a) > 1;
  copy_patch(__func__, &(patch_copy){g_a, g_b, alo, a.end, blo, b.end, transposed});
}

/* Nothing is mirrored. */
void rgi_ga_merge_distr_patch(int g_a, const int64_t alo[], const int64_t ahi[], int g_b,
                              const int64_t blo[], const int64_t bhi[]) {
  rgi_ga_copy_patch('n', g_a, alo, ahi, g_b, blo, bhi);
}
