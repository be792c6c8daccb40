/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Copies. Between arrays on different groups Global Arrays has only the members of the smaller
 * group call, where the library has those of both. There the elements go through an array on the
 * smaller group. */
#include <regroup/array_math.h>
#include <regroup/collectives.h>
#include <string.h>

#include "ga/ga_group.h"
#include "ga/ga_patch.h"
#include "ga_core.h"

int rgi_ga_patch_extents(const char *call, int g, rg_array_patch p, int64_t n[]) {
  rg_array_spec spec = {.size = sizeof spec};
  rgi_ga_error_check(call, g, rg_array_info(p.array, &spec));
  for (int d = 0; d < spec.dims; d++)
    n[d] = p.lo ? p.hi[d] - p.lo[d] : spec.shape[d];
  return spec.dims;
}

static void reverse(int dims, int64_t n[]) {
  for (int d = 0, e = dims - 1; d < e; d++, e--) {
    int64_t first = n[d];
    n[d] = n[e];
    n[e] = first;
  }
}

/* A new array on the group, of the type of `like`. */
static rg_array array_for(const char *call, int g, rg_array like, int dims, const int64_t shape[],
                          rg_group group) {
  rg_array_spec of = {.size = sizeof of}, spec = {.size = sizeof spec};
  rg_array made = NULL;
  rgi_ga_error_check(call, g, rg_array_info(like, &of));
  rgi_ga_error_check(call, g, rg_array_spec_set(&spec, of.type, dims, shape));
  spec.element_size = of.element_size;
  rgi_ga_error_check(call, g, rg_array_create(group, &spec, &made));
  return made;
}

rg_array rgi_ga_patch_array(const char *call, int g, rg_array_patch like, rg_group group) {
  int64_t shape[RG_ARRAY_MAX_DIMS];
  int dims = rgi_ga_patch_extents(call, g, like, shape);
  return array_for(call, g, like.array, dims, shape, group);
}

void rgi_ga_patch_copy(const char *call, int g, rg_array_patch a, rg_array_patch b,
                       int transposed) {
  int64_t n[RG_ARRAY_MAX_DIMS], m[RG_ARRAY_MAX_DIMS];
  int dims = rgi_ga_patch_extents(call, g, a, n), to = rgi_ga_patch_extents(call, g, b, m);
  rg_array turned = NULL;
  transposed = transposed && dims > 1;
  reverse(dims, n);
  if (transposed && (to != dims || memcmp(n, m, (size_t)dims * sizeof *n) != 0)) {
    rg_group group;
    rgi_ga_error_check(call, g, rg_array_group(a.array, &group));
    turned = array_for(call, g, a.array, dims, n, group);
    rgi_ga_error_check(call, g, rg_array_copy_patch(a.array, a.lo, a.hi, turned, NULL, NULL, 1));
    a = (rg_array_patch){.array = turned};
    transposed = 0;
  }
  rgi_ga_error_check(call, g,
                     rg_array_copy_patch(a.array, a.lo, a.hi, b.array, b.lo, b.hi, transposed));
  rgi_ga_error_check(call, g, rg_array_free(&turned));
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

static void copy_patch(const char *call, int g_a, rg_array_patch a, int g_b, rg_array_patch b,
                       int transposed) {
  int pull;
  rg_group group = smaller_group(call, g_a, g_b, &pull);
  if (!group) {
    rgi_ga_patch_copy(call, g_a, a, b, transposed);
    return;
  }
  rgi_ga_group_synchronise(call, g_a, group);
  rg_array_patch part = {.array = rgi_ga_patch_array(call, g_a, pull ? a : b, group)};
  if (pull) {
    move_own(call, g_a, a.lo, part.array, group, 1);
    rgi_ga_patch_copy(call, g_b, part, b, transposed);
  } else {
    rgi_ga_patch_copy(call, g_a, a, part, transposed);
    move_own(call, g_b, b.lo, part.array, group, 0);
    rgi_ga_group_synchronise(call, g_a, group);
  }
  rgi_ga_error_check(call, g_a, rg_array_free(&part.array));
}

void rgi_ga_copy(int g_a, int g_b) {
  static const int64_t zero[RG_ARRAY_MAX_DIMS];
  rg_array_patch a = {.array = RGI_GA_ARRAY(g_a)}, b = {.array = RGI_GA_ARRAY(g_b)};
  int64_t n[RG_ARRAY_MAX_DIMS], m[RG_ARRAY_MAX_DIMS];
  int dims = rgi_ga_patch_extents(__func__, g_a, a, n);
  if (rgi_ga_patch_extents(__func__, g_b, b, m) != dims ||
      memcmp(n, m, (size_t)dims * sizeof *n) != 0)
    rgi_ga_error_end(__func__, g_a, "the arrays have different shapes");
  a.lo = b.lo = zero;
  a.hi = b.hi = n;
  copy_patch(__func__, g_a, a, g_b, b, 0);
}

void rgi_ga_copy_patch(char trans, int g_a, const int64_t alo[], const int64_t ahi[], int g_b,
                       const int64_t blo[], const int64_t bhi[]) {
  rgi_ga_patch a = RGI_GA_PATCH(g_a, ahi), b = RGI_GA_PATCH(g_b, bhi);
  copy_patch(__func__, g_a, (rg_array_patch){a.array, alo, a.end}, g_b,
             (rg_array_patch){b.array, blo, b.end}, rgi_ga_patch_is_transposed(trans));
}

/* Nothing is mirrored. */
void rgi_ga_merge_distr_patch(int g_a, const int64_t alo[], const int64_t ahi[], int g_b,
                              const int64_t blo[], const int64_t bhi[]) {
  rgi_ga_copy_patch('n', g_a, alo, ahi, g_b, blo, bhi);
}
