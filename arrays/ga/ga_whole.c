/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whole arrays and patches, element by element. */
#include <regroup/array_math.h>
#include <string.h>

#include "ga/ga_patch.h"
#include "ga_core.h"

void rgi_ga_fill(int g_a, const void *value) {
  RGI_GA_TRY(g_a, rg_array_fill(RGI_GA_ARRAY(g_a), NULL, NULL, value));
}

void rgi_ga_fill_patch(int g_a, const int64_t lo[], const int64_t hi[], const void *val) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  RGI_GA_TRY(g_a, rg_array_fill(patch.array, lo, patch.end, val));
}

void rgi_ga_zero(int g_a) {
  RGI_GA_TRY(g_a, rg_array_zero(RGI_GA_ARRAY(g_a)));
}

void rgi_ga_zero_patch(int g_a, const int64_t lo[], const int64_t hi[]) {
  static const double zero[4]; /* of any type */
  rgi_ga_fill_patch(g_a, lo, hi, zero);
}

void rgi_ga_scale(int g_a, const void *value) {
  RGI_GA_TRY(g_a, rg_array_scale(RGI_GA_ARRAY(g_a), NULL, NULL, value));
}

void rgi_ga_scale_patch(int g_a, const int64_t lo[], const int64_t hi[], const void *alpha) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  RGI_GA_TRY(g_a, rg_array_scale(patch.array, lo, patch.end, alpha));
}

void rgi_ga_add_constant(int g_a, const void *alpha) {
  RGI_GA_TRY(g_a, rg_array_add_scalar(RGI_GA_ARRAY(g_a), NULL, NULL, alpha));
}

void rgi_ga_add_constant_patch(int g, const int64_t lo[], const int64_t hi[], const void *alpha) {
  rgi_ga_patch patch = RGI_GA_PATCH(g, hi);
  RGI_GA_TRY(g, rg_array_add_scalar(patch.array, lo, patch.end, alpha));
}

void rgi_ga_add(const void *alpha, int g_a, const void *beta, int g_b, int g_c) {
  RGI_GA_TRY(g_a,
             rg_array_add(alpha, RGI_GA_ARRAY(g_a), beta, RGI_GA_ARRAY(g_b), RGI_GA_ARRAY(g_c)));
}

void rgi_ga_add_patch(const void *alpha, int g_a, const int64_t alo[], const int64_t ahi[],
                      const void *beta, int g_b, const int64_t blo[], const int64_t bhi[], int g_c,
                      const int64_t clo[], const int64_t chi[]) {
  rgi_ga_patch a = RGI_GA_PATCH(g_a, ahi), b = RGI_GA_PATCH(g_b, bhi), c = RGI_GA_PATCH(g_c, chi);
  RGI_GA_TRY(g_a, rg_array_add_patch(alpha, a.array, alo, a.end, beta, b.array, blo, b.end, c.array,
                                     clo, c.end));
}

/* --- operations on elements -------------------------------------------------------------- */

/* The result is the last of n arrays. */
static void combine_whole(const char *call, rg_combine_operation op, int n, const int g[]) {
  rg_array_patch patch[4];
  for (int i = 0; i < n; i++)
    patch[(i + 1) % n] = (rg_array_patch){.array = rgi_ga_handle_array(call, g[i])};
  rgi_ga_error_check(call, g[0], rg_array_combine_patches(op, n, patch));
}

/* A patch of a call with its bounds. */
typedef struct {
  int g;
  const int64_t *lo, *hi;
} bounded;

static void combine_patches(const char *call, rg_combine_operation op, int n,
                            const bounded given[]) {
  rg_array_patch patch[4];
  rgi_ga_patch own[4];
  for (int i = 0; i < n; i++) {
    own[i] = rgi_ga_patch_of(call, given[i].g, given[i].hi);
    patch[(i + 1) % n] = (rg_array_patch){own[i].array, given[i].lo, own[i].end};
  }
  rgi_ga_error_check(call, given[0].g, rg_array_combine_patches(op, n, patch));
}

void rgi_ga_abs_value(int g_a) {
  combine_whole(__func__, RG_COMBINE_ABSOLUTE, 2, (int[]){g_a, g_a});
}

void rgi_ga_abs_value_patch(int g_a, const int64_t lo[], const int64_t hi[]) {
  const bounded a = {g_a, lo, hi};
  combine_patches(__func__, RG_COMBINE_ABSOLUTE, 2, (bounded[]){a, a});
}

void rgi_ga_recip(int g_a) {
  combine_whole(__func__, RG_COMBINE_RECIPROCAL, 2, (int[]){g_a, g_a});
}

void rgi_ga_recip_patch(int g_a, const int64_t lo[], const int64_t hi[]) {
  const bounded a = {g_a, lo, hi};
  combine_patches(__func__, RG_COMBINE_RECIPROCAL, 2, (bounded[]){a, a});
}

void rgi_ga_median(int g_a, int g_b, int g_c, int g_m) {
  combine_whole(__func__, RG_COMBINE_MEDIAN, 4, (int[]){g_a, g_b, g_c, g_m});
}

void rgi_ga_median_patch(int g_a, const int64_t alo[], const int64_t ahi[], int g_b,
                         const int64_t blo[], const int64_t bhi[], int g_c, const int64_t clo[],
                         const int64_t chi[], int g_m, const int64_t mlo[], const int64_t mhi[]) {
  combine_patches(__func__, RG_COMBINE_MEDIAN, 4,
                  (bounded[]){{g_a, alo, ahi}, {g_b, blo, bhi}, {g_c, clo, chi}, {g_m, mlo, mhi}});
}

/* The functions of two operands, on whole arrays and on patches. */
#define ELEMENTWISE(name, op)                                                                      \
  void rgi_ga_elem_##name(int g_a, int g_b, int g_c) {                                             \
    combine_whole(__func__, op, 3, (int[]){g_a, g_b, g_c});                                        \
  }                                                                                                \
  void rgi_ga_elem_##name##_patch(int g_a, const int64_t alo[], const int64_t ahi[], int g_b,      \
                                  const int64_t blo[], const int64_t bhi[], int g_c,               \
                                  const int64_t clo[], const int64_t chi[]) {                      \
    combine_patches(__func__, op, 3,                                                               \
                    (bounded[]){{g_a, alo, ahi}, {g_b, blo, bhi}, {g_c, clo, chi}});               \
  }
ELEMENTWISE(multiply, RG_COMBINE_MULTIPLY)
ELEMENTWISE(divide, RG_COMBINE_DIVIDE)
ELEMENTWISE(minimum, RG_COMBINE_MINIMUM)
ELEMENTWISE(maximum, RG_COMBINE_MAXIMUM)

/* --- random numbers ---------------------------------------------------------------------- */

/* A number from 0 to *context in place of one of all numbers. */
static int limit32(void *elements, int64_t n, const int64_t at[], void *context) {
  int32_t *number = elements, limit = *(int32_t *)context;
  (void)at;
  for (int64_t i = 0; i < n; i++)
    number[i] = (int32_t)((double)(uint32_t)number[i] / 0x1p32 * limit);
  return RG_SUCCESS;
}

static int limit64(void *elements, int64_t n, const int64_t at[], void *context) {
  int64_t *number = elements, limit = *(int64_t *)context;
  (void)at;
  for (int64_t i = 0; i < n; i++)
    number[i] = (int64_t)((double)(uint64_t)number[i] / 0x1p64 * (double)limit);
  return RG_SUCCESS;
}

/* Numbers from 0 to *value; the same for any number of processes, others at each call. */
void rgi_ga_randomize(int g_a, const void *value) {
  static uint64_t seed = 1;
  rg_array array = RGI_GA_ARRAY(g_a);
  rg_array_spec spec = rgi_ga_handle_spec(__func__, g_a);
  RGI_GA_TRY(g_a, rg_array_random(array, seed++));
  if (spec.type == RG_TYPE_INT32 || spec.type == RG_TYPE_INT64)
    RGI_GA_TRY(g_a, rg_array_map(array, NULL, NULL, spec.type == RG_TYPE_INT32 ? limit32 : limit64,
                                 (void *)(uintptr_t)value));
  else
    RGI_GA_TRY(g_a, rg_array_scale(array, NULL, NULL, value));
}
