/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "math_cases.h"

#include <stdlib.h>
#include <string.h>

rg_group math_world, math_reverse, math_even;
static unsigned long long state;

void math_seed(int suite) {
  state = rgt_seed() * 0x9e3779b97f4a7c15u + (unsigned long long)suite;
}

int math_cases(int n) {
  return getenv("MPIR_CVAR_NUM_CLIQUES") ? n / 4 : n;
}

int64_t math_draw(int64_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (unsigned long long)n);
}

void math_start(void) {
  int ranks[64], n = 0;
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_OK(rg_group_world(&math_world));
  RGT_OK(rg_group_create_range(math_world, rgt_size - 1, 0, -1, 1, &math_reverse));
  for (int i = 0; i < rgt_size; i += 2)
    ranks[n++] = i;
  RGT_OK(rg_group_create(math_world, n, ranks, 2, &math_even));
}

void math_stop(void) {
  RGT_OK(rg_group_free(&math_even));
  RGT_OK(rg_group_free(&math_reverse));
  RGT_OK(rg_group_free(&math_world));
  RGT_OK(rg_finalize());
}

rg_array_type math_type(void) {
  return (rg_array_type)math_draw(RG_TYPE_OPAQUE);
}

rg_array_type math_real_type(void) {
  return math_draw(2) ? RG_TYPE_DOUBLE : RG_TYPE_FLOAT;
}

rg_array_type math_ordered_type(void) {
  return (rg_array_type)math_draw(RG_TYPE_DOUBLE + 1);
}

rg_array_type math_blas_type(void) {
  return (rg_array_type)(RG_TYPE_FLOAT + math_draw(4));
}

int math_shape(int64_t shape[]) {
  int dims = 1 + (int)math_draw(math_draw(3) ? 3 : RG_ARRAY_MAX_DIMS);
  int64_t most = dims == 1 ? 60 : dims == 2 ? 16 : dims == 3 ? 7 : 4;
  for (int d = 0; d < dims; d++)
    shape[d] = math_draw(12) ? 1 + math_draw(most) : math_draw(2);
  return dims;
}

/* --- layouts ----------------------------------------------------------------------------- */

static void irregular(rg_array_spec *spec, int members, int64_t boundaries[RG_ARRAY_MAX_DIMS][64]) {
  int left = members;
  spec->layout = RG_LAYOUT_IRREGULAR;
  for (int d = 0; d < spec->dims; d++) {
    spec->grid[d] = 1 + (int)math_draw(left);
    left /= spec->grid[d];
    boundaries[d][0] = 0;
    for (int i = 1; i < spec->grid[d]; i++) {
      int64_t from = boundaries[d][i - 1];
      boundaries[d][i] = from + math_draw(spec->shape[d] - from + 1);
    }
    spec->boundaries[d] = boundaries[d];
  }
}

static void layout(rg_array_spec *spec, int members, int64_t boundaries[RG_ARRAY_MAX_DIMS][64]) {
  int64_t kind = math_draw(5);
  if (kind == 0)
    irregular(spec, members, boundaries);
  if (kind == 1 || kind == 2) {
    spec->layout = kind == 1 ? RG_LAYOUT_BLOCK_CYCLIC : RG_LAYOUT_SCALAPACK;
    for (int d = 0; d < spec->dims; d++)
      spec->chunk[d] = 1 + math_draw(4);
  }
  for (int d = 0; d < spec->dims && spec->layout < RG_LAYOUT_BLOCK_CYCLIC; d++)
    if (math_draw(3) == 0) {
      spec->ghosts[d] = math_draw(3);
      spec->periodic[d] = (int)math_draw(2);
    }
}

math_array math_make(rg_group g, rg_array_type type, int dims, const int64_t shape[]) {
  math_array x = {.type = type, .dims = dims, .n = 1};
  rg_array_spec spec = {.size = sizeof spec};
  int64_t boundaries[RG_ARRAY_MAX_DIMS][64];
  int members;
  if (!g)
    g = math_draw(2) ? math_world : math_reverse;
  RGT_OK(rg_group_size(g, &members));
  RGT_OK(rg_array_spec_set(&spec, type, dims, shape));
  if (type == RG_TYPE_OPAQUE)
    spec.element_size = 5;
  layout(&spec, members, boundaries);
  RGT_OK(rg_array_create(g, &spec, &x.a));
  RGT_OK(rg_array_info(x.a, &spec));
  x.element = spec.element_size;
  for (int d = 0; d < dims; d++) {
    x.shape[d] = shape[d];
    x.n *= shape[d];
  }
  x.all = calloc((size_t)x.n + 1, 16);
  for (int64_t i = 0; i < x.n; i++)
    if (type == RG_TYPE_OPAQUE)
      x.all[i * 5] = (char)math_draw(100);
    else
      math_put(&x, i, math_value(type));
  math_set(&x);
  return x;
}

void math_free(math_array *array) {
  RGT_OK(rg_array_free(&array->a));
  free(array->all);
}

/* --- elements ---------------------------------------------------------------------------- */

double _Complex math_value(rg_array_type type) {
  double real = (double)(math_draw(19) - 9), imaginary = (double)(math_draw(19) - 9);
  return type == RG_TYPE_FLOAT_COMPLEX || type == RG_TYPE_DOUBLE_COMPLEX ? real + imaginary * I
                                                                         : real;
}

math_scalar math_element(rg_array_type type, double _Complex value) {
  math_scalar s;
  memset(&s, 0, sizeof s);
  switch (type) {
  case RG_TYPE_INT32:
    s.i32 = (int32_t)creal(value);
    break;
  case RG_TYPE_INT64:
    s.i64 = (int64_t)creal(value);
    break;
  case RG_TYPE_FLOAT:
  case RG_TYPE_FLOAT_COMPLEX:
    s.f[0] = (float)creal(value);
    s.f[1] = (float)cimag(value);
    break;
  default:
    s.d[0] = creal(value);
    s.d[1] = cimag(value);
  }
  return s;
}

double _Complex math_number(rg_array_type type, const void *at) {
  math_scalar s;
  static const size_t sizes[] = {4, 8, 4, 8, 8, 16};
  memset(&s, 0, sizeof s);
  memcpy(&s, at, sizes[type]);
  return type == RG_TYPE_INT32   ? s.i32
         : type == RG_TYPE_INT64 ? (double)s.i64
         : type == RG_TYPE_FLOAT || type == RG_TYPE_FLOAT_COMPLEX
             ? (double)s.f[0] + (double)s.f[1] * I
             : s.d[0] + s.d[1] * I;
}

double _Complex math_at(const math_array *array, int64_t i) {
  return math_number(array->type, array->all + i * (int64_t)array->element);
}

void math_put(math_array *array, int64_t i, double _Complex value) {
  math_scalar s = math_element(array->type, value);
  memcpy(array->all + i * (int64_t)array->element, s.bytes, array->element);
}

void math_set(math_array *array) {
  int rank;
  rg_group g;
  const int64_t zero[RG_ARRAY_MAX_DIMS] = {0};
  RGT_OK(rg_array_group(array->a, &g));
  RGT_OK(rg_group_rank(g, &rank));
  if (rank == 0)
    RGT_OK(rg_array_put(array->a, zero, array->shape, array->all, NULL));
  RGT_OK(rg_array_sync(array->a));
}

int64_t math_differences(const math_array *array) {
  const int64_t zero[RG_ARRAY_MAX_DIMS] = {0};
  int64_t wrong = 0;
  char *now = calloc((size_t)array->n + 1, 16);
  RGT_OK(rg_array_sync(array->a));
  RGT_OK(rg_array_get(array->a, zero, array->shape, now, NULL));
  RGT_OK(rg_array_sync(array->a));
  for (int64_t i = 0; i < array->n; i++) {
    const char *a = now + i * (int64_t)array->element,
               *b = array->all + i * (int64_t)array->element;
    wrong += memcmp(a, b, array->element) != 0 &&
             (array->type == RG_TYPE_OPAQUE ||
              math_number(array->type, a) != math_number(array->type, b));
  }
  free(now);
  return wrong;
}

/* --- patches ------------------------------------------------------------------------------ */

void math_patch(const math_array *array, int64_t lo[], int64_t hi[]) {
  for (int d = 0; d < array->dims; d++) {
    lo[d] = math_draw(array->shape[d] + 1);
    hi[d] = lo[d] + math_draw(array->shape[d] - lo[d] + 1);
    if (math_draw(3) == 0) {
      lo[d] = 0;
      hi[d] = array->shape[d];
    }
  }
}

int64_t math_count(const math_array *array, const int64_t lo[], const int64_t hi[]) {
  int64_t n = 1;
  for (int d = 0; d < array->dims; d++)
    n *= hi[d] - lo[d];
  return n;
}

int64_t math_index(const math_array *array, const int64_t lo[], const int64_t hi[], int64_t i) {
  int64_t at[RG_ARRAY_MAX_DIMS], index = 0;
  for (int d = array->dims - 1; d >= 0; d--) {
    at[d] = lo[d] + i % (hi[d] - lo[d]);
    i /= hi[d] - lo[d];
  }
  for (int d = 0; d < array->dims; d++)
    index = index * array->shape[d] + at[d];
  return index;
}
