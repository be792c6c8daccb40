/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Numbers of arrays: products, norms, extreme elements, and steps to bounds. */
#include <float.h>
#include <regroup/array_math.h>
#include <string.h>

#include "ga/ga_patch.h"
#include "ga_core.h"

/* A number of any type. */
typedef union {
  int64_t integer;
  float real;
  double number;
  SingleComplex single;
  DoubleComplex complex;
} any_number;

static any_number dot(const char *call, int g_a, int g_b) {
  any_number sum = {0};
  rgi_ga_error_check(
      call, g_a,
      rg_array_dot(rgi_ga_handle_array(call, g_a), rgi_ga_handle_array(call, g_b), &sum));
  return sum;
}

typedef struct {
  int g;
  char form;
  const int64_t *lo, *hi;
} dot_patch;

/* Elements correspond in C order, of one patch with its dimensions in reverse order if only one of
 * the two is transposed. */
static any_number dot_of(const char *call, dot_patch a, dot_patch b) {
  any_number sum = {0};
  rgi_ga_patch from = rgi_ga_patch_of(call, a.g, a.hi), to = rgi_ga_patch_of(call, b.g, b.hi);
  rg_array_patch pa = {from.array, a.lo, from.end}, pb = {to.array, b.lo, to.end};
  int64_t n[RG_ARRAY_MAX_DIMS], m[RG_ARRAY_MAX_DIMS];
  int dims = rgi_ga_patch_extents(call, a.g, pa, n);
  int same =
      rgi_ga_patch_extents(call, b.g, pb, m) == dims && memcmp(n, m, (size_t)dims * sizeof *n) == 0;
  int transposed = rgi_ga_patch_is_transposed(a.form) != rgi_ga_patch_is_transposed(b.form);
  rg_array copy = NULL;
  if (transposed || !same) {
    rg_group group;
    rgi_ga_error_check(call, a.g, rg_array_group(pa.array, &group));
    copy = rgi_ga_patch_array(call, a.g, pa, group);
    rgi_ga_patch_copy(call, b.g, pb, (rg_array_patch){.array = copy}, transposed);
    pb = (rg_array_patch){.array = copy};
  }
  rgi_ga_error_check(call, a.g,
                     rg_array_dot_patch(pa.array, pa.lo, pa.hi, pb.array, pb.lo, pb.hi, &sum));
  rgi_ga_error_check(call, a.g, rg_array_free(&copy));
  return sum;
}

#define DOT(letter, kind, member)                                                                  \
  kind rgi_ga_##letter##dot(int g_a, int g_b) {                                                    \
    return (kind)dot(__func__, g_a, g_b).member;                                                   \
  }                                                                                                \
  kind rgi_ga_##letter##dot_patch(int g_a, char t_a, const int64_t alo[], const int64_t ahi[],     \
                                  int g_b, char t_b, const int64_t blo[], const int64_t bhi[]) {   \
    return (kind)dot_of(__func__, (dot_patch){g_a, t_a, alo, ahi},                                 \
                        (dot_patch){g_b, t_b, blo, bhi})                                           \
        .member;                                                                                   \
  }
DOT(i, int, integer)
DOT(l, long, integer)
DOT(ll, long long, integer)
DOT(f, float, real)
DOT(d, double, number)
#undef DOT
#define DOT(letter, kind, member)                                                                  \
  kind rgi_ga_##letter##dot(int g_a, int g_b) {                                                    \
    return dot(__func__, g_a, g_b).member;                                                         \
  }                                                                                                \
  kind rgi_ga_##letter##dot_patch(int g_a, char t_a, const int64_t alo[], const int64_t ahi[],     \
                                  int g_b, char t_b, const int64_t blo[], const int64_t bhi[]) {   \
    return dot_of(__func__, (dot_patch){g_a, t_a, alo, ahi}, (dot_patch){g_b, t_b, blo, bhi})      \
        .member;                                                                                   \
  }
DOT(c, SingleComplex, single)
DOT(z, DoubleComplex, complex)

/* --- norms and extreme elements --------------------------------------------------------------- */

/* The sum of the absolute values. */
void rgi_ga_norm1(int g_a, double nm[]) {
  RGI_GA_TRY(g_a, rg_array_norm(RGI_GA_ARRAY(g_a), RG_NORM_1, nm));
}

/* The greatest absolute value. */
void rgi_ga_norm_infinity(int g_a, double nm[]) {
  RGI_GA_TRY(g_a, rg_array_norm(RGI_GA_ARRAY(g_a), RG_NORM_INFINITY, nm));
}

/* Complex numbers by their absolute values. */
void rgi_ga_select_elem(int g_a, const char *op, void *val, int64_t index[]) {
  rg_array array = RGI_GA_ARRAY(g_a);
  rg_array_spec spec = rgi_ga_handle_spec(__func__, g_a);
  int least = strncmp(op, "min", 3) == 0;
  if (!least && strncmp(op, "max", 3) != 0)
    rgi_ga_error_end(__func__, g_a, "op is \"%.20s\"; it is min or max", op);
  if (spec.type == RG_TYPE_FLOAT_COMPLEX || spec.type == RG_TYPE_DOUBLE_COMPLEX)
    RGI_GA_TRY(g_a, least ? rg_array_absmin(array, NULL, NULL, val, index)
                          : rg_array_absmax(array, NULL, NULL, val, index));
  else
    RGI_GA_TRY(g_a, least ? rg_array_min(array, NULL, NULL, val, index)
                          : rg_array_max(array, NULL, NULL, val, index));
}

/* --- steps -------------------------------------------------------------------------------- */

/* Stores a step as an element of the array's type. */
static void store_step(const char *call, int g, double step, void *to) {
  switch (rgi_ga_handle_spec(call, g).type) {
  case RG_TYPE_INT32:
    *(int32_t *)to = step < INT32_MAX ? (int32_t)step : INT32_MAX;
    break;
  case RG_TYPE_INT64:
    *(int64_t *)to = step < 0x1p63 ? (int64_t)step : INT64_MAX;
    break;
  case RG_TYPE_FLOAT:
    *(float *)to = step < FLT_MAX ? (float)step : FLT_MAX;
    break;
  default:
    *(double *)to = step < DBL_MAX ? step : DBL_MAX;
  }
}

void rgi_ga_step_max(int g_a, int g_b, void *step) {
  const rg_array_patch patch[2] = {{.array = RGI_GA_ARRAY(g_a)}, {.array = RGI_GA_ARRAY(g_b)}};
  double steps[3];
  RGI_GA_TRY(g_a, rg_array_step_bounds(2, patch, steps));
  store_step(__func__, g_a, steps[1], step);
}

void rgi_ga_step_max_patch(int g_a, const int64_t alo[], const int64_t ahi[], int g_b,
                           const int64_t blo[], const int64_t bhi[], void *step) {
  rgi_ga_patch a = RGI_GA_PATCH(g_a, ahi), b = RGI_GA_PATCH(g_b, bhi);
  const rg_array_patch patch[2] = {{a.array, alo, a.end}, {b.array, blo, b.end}};
  double steps[3];
  RGI_GA_TRY(g_a, rg_array_step_bounds(2, patch, steps));
  store_step(__func__, g_a, steps[1], step);
}

static void store_bounds(const char *call, int g, const rg_array_patch patch[], void *boundmin,
                         void *wolfemin, void *boundmax) {
  double steps[3];
  rgi_ga_error_check(call, g, rg_array_step_bounds(4, patch, steps));
  store_step(call, g, steps[0], boundmin);
  store_step(call, g, steps[1], wolfemin);
  store_step(call, g, steps[2], boundmax);
}

void rgi_ga_step_bound_info(int g_xx, int g_vv, int g_xxll, int g_xxuu, void *boundmin,
                            void *wolfemin, void *boundmax) {
  const rg_array_patch patch[4] = {{.array = RGI_GA_ARRAY(g_xx)},
                                   {.array = RGI_GA_ARRAY(g_vv)},
                                   {.array = RGI_GA_ARRAY(g_xxll)},
                                   {.array = RGI_GA_ARRAY(g_xxuu)}};
  store_bounds(__func__, g_xx, patch, boundmin, wolfemin, boundmax);
}

void rgi_ga_step_bound_info_patch(int g_xx, const int64_t xxlo[], const int64_t xxhi[], int g_vv,
                                  const int64_t vvlo[], const int64_t vvhi[], int g_xxll,
                                  const int64_t xxlllo[], const int64_t xxllhi[], int g_xxuu,
                                  const int64_t xxuulo[], const int64_t xxuuhi[], void *boundmin,
                                  void *wolfemin, void *boundmax) {
  rgi_ga_patch xx = RGI_GA_PATCH(g_xx, xxhi), vv = RGI_GA_PATCH(g_vv, vvhi),
               ll = RGI_GA_PATCH(g_xxll, xxllhi), uu = RGI_GA_PATCH(g_xxuu, xxuuhi);
  const rg_array_patch patch[4] = {{xx.array, xxlo, xx.end},
                                   {vv.array, vvlo, vv.end},
                                   {ll.array, xxlllo, ll.end},
                                   {uu.array, xxuulo, uu.end}};
  store_bounds(__func__, g_xx, patch, boundmin, wolfemin, boundmax);
}
