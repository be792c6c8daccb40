/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Patches in memory against element by element: random extents, leading dimensions
 * and types; what lies between the rows stays as it was.
 *
 * ranks: 1 */
#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "access/patch.h"
#include "check.h"

typedef struct {
  int dims;
  int64_t extent[RG_ARRAY_MAX_DIMS];
  int64_t ld[2][RG_ARRAY_MAX_DIMS]; /* of both memories */
  const int64_t *given[2];          /* the same, or NULL */
  int64_t elements, memory[2];      /* elements of the patch and of its memories */
} scene;

static int64_t below(int64_t n) {
  return random() % n;
}

static void draw(scene *s) {
  static const int longest[] = {0, 400, 30, 12, 6, 5, 4, 3};
  s->dims = 1 + (int)below(RG_ARRAY_MAX_DIMS);
  s->elements = 1;
  for (int k = 0; k < s->dims; k++) {
    s->extent[k] = below(4) == 0 ? 1 : (below(50) != 0) * (1 + below(longest[s->dims]));
    s->elements *= s->extent[k];
  }
  for (int side = 0; side < 2; side++) {
    int own = below(4) == 0;
    s->given[side] = own ? NULL : s->ld[side];
    s->memory[side] = s->extent[0];
    for (int k = 1; k < s->dims; k++) {
      s->ld[side][k - 1] = s->extent[k] + (own ? 0 : below(2) * below(3));
      s->memory[side] *= s->ld[side][k - 1];
    }
  }
}

/* Where the i-th element of the patch is in a memory. */
static int64_t place(const scene *s, int side, int64_t i) {
  int64_t at[RG_ARRAY_MAX_DIMS] = {0}, where;
  for (int k = s->dims - 1; k >= 0; k--) {
    at[k] = i % s->extent[k];
    i /= s->extent[k];
  }
  where = at[0];
  for (int k = 1; k < s->dims; k++)
    where = where * s->ld[side][k - 1] + at[k];
  return where;
}

static void fill(char *memory, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i++)
    memory[i] = (char)random();
}

static void test_copy(void) {
  static const size_t sizes[] = {1, 3, 4, 8, 16, 24};
  srandom((unsigned)rgt_seed());
  for (int i = 0; i < 2000; i++) {
    scene s;
    draw(&s);
    size_t size = sizes[below(6)], to_bytes = (size_t)s.memory[0] * size;
    char *to = malloc(to_bytes + 1), *expected = malloc(to_bytes + 1);
    char *from = malloc((size_t)s.memory[1] * size + 1);
    fill(to, (int64_t)to_bytes);
    fill(from, s.memory[1] * (int64_t)size);
    memcpy(expected, to, to_bytes);
    for (int64_t e = 0; e < s.elements; e++)
      memcpy(expected + place(&s, 0, e) * (int64_t)size, from + place(&s, 1, e) * (int64_t)size,
             size);
    rgi_strided p = rgi_strided_make(s.dims, s.extent, size, s.given[1], s.given[0]);
    rgi_patch_put(&p, to, from);
    RGT_INT(memcmp(to, expected, to_bytes), 0);
    fill(to, (int64_t)to_bytes); /* and back: the origin is where it was put */
    memcpy(expected, to, to_bytes);
    for (int64_t e = 0; e < s.elements; e++)
      memcpy(expected + place(&s, 0, e) * (int64_t)size, from + place(&s, 1, e) * (int64_t)size,
             size);
    p = rgi_strided_make(s.dims, s.extent, size, s.given[0], s.given[1]);
    rgi_patch_get(&p, from, to);
    RGT_INT(memcmp(to, expected, to_bytes), 0);
    free(to);
    free(expected);
    free(from);
  }
}

/* --- accumulate -------------------------------------------------------------------- */

/* Small whole numbers: every sum and product is exact, in every type. */
typedef struct {
  long re, im;
} value;

static size_t size_of(rg_array_type type) {
  static const size_t sizes[] = {4, 8, 4, 8, 8, 16};
  return sizes[type];
}

static void store(rg_array_type type, void *memory, int64_t i, value v) {
  switch (type) {
  case RG_TYPE_INT32:
    ((int32_t *)memory)[i] = (int32_t)v.re;
    break;
  case RG_TYPE_INT64:
    ((int64_t *)memory)[i] = v.re;
    break;
  case RG_TYPE_FLOAT:
    ((float *)memory)[i] = (float)v.re;
    break;
  case RG_TYPE_DOUBLE:
    ((double *)memory)[i] = (double)v.re;
    break;
  case RG_TYPE_FLOAT_COMPLEX:
    ((float _Complex *)memory)[i] = (float)v.re + (float)v.im * I;
    break;
  default:
    ((double _Complex *)memory)[i] = (double)v.re + (double)v.im * I;
  }
}

static value draw_value(rg_array_type type) {
  int pairs = type == RG_TYPE_FLOAT_COMPLEX || type == RG_TYPE_DOUBLE_COMPLEX;
  return (value){below(201) - 100, pairs ? below(201) - 100 : 0};
}

static value *draw_values(rg_array_type type, int64_t n, void *memory) {
  value *v = malloc((size_t)(n + 1) * sizeof *v);
  for (int64_t i = 0; i < n; i++) {
    v[i] = draw_value(type);
    store(type, memory, i, v[i]);
  }
  return v;
}

typedef void accumulate(rg_array_type type, const rgi_strided *p, void *target, const void *origin,
                        const void *alpha);

static void check_accumulate(rg_array_type type, accumulate *f) {
  scene s;
  draw(&s);
  size_t size = size_of(type), bytes = (size_t)s.memory[0] * size;
  char *to = malloc(bytes + 1), *from = malloc((size_t)s.memory[1] * size + 1);
  char *expected = malloc(bytes + 1), factor[16];
  value *y = draw_values(type, s.memory[0], to), *x = draw_values(type, s.memory[1], from);
  value alpha = draw_value(type);
  int plain = below(2) == 0;
  store(type, factor, 0, alpha);
  if (plain)
    alpha = (value){1, 0};
  for (int64_t e = 0; e < s.elements; e++) {
    value *to_e = &y[place(&s, 0, e)], *from_e = &x[place(&s, 1, e)];
    to_e->re += alpha.re * from_e->re - alpha.im * from_e->im;
    to_e->im += alpha.re * from_e->im + alpha.im * from_e->re;
  }
  for (int64_t i = 0; i < s.memory[0]; i++)
    store(type, expected, i, y[i]);
  rgi_strided p = rgi_strided_make(s.dims, s.extent, size, s.given[1], s.given[0]);
  f(type, &p, to, from, plain ? NULL : factor);
  RGT_INT(memcmp(to, expected, bytes), 0);
  free(to);
  free(from);
  free(expected);
  free(x);
  free(y);
}

static void test_accumulate(void) {
  srandom((unsigned)rgt_seed() + 1);
  for (int i = 0; i < 600; i++)
    for (int type = RG_TYPE_INT32; type < RG_TYPE_OPAQUE; type++)
      check_accumulate((rg_array_type)type, rgi_patch_accumulate);
}

static void test_atomic(void) {
  srandom((unsigned)rgt_seed() + 2);
  for (int i = 0; i < 600; i++) {
    check_accumulate(RG_TYPE_INT32, rgi_patch_accumulate_atomic);
    check_accumulate(RG_TYPE_INT64, rgi_patch_accumulate_atomic);
  }
}

/* Integers wrap around, as the header of arrays promises nothing else of them. */
static void test_wrap(void) {
  int32_t y[3] = {INT32_MAX, INT32_MIN, 5}, x[3] = {1, -1, 7};
  rgi_strided p = rgi_strided_make(1, (int64_t[]){3}, sizeof *x, NULL, NULL);
  rgi_patch_accumulate(RG_TYPE_INT32, &p, y, x, NULL);
  RGT_INT(y[0], INT32_MIN);
  RGT_INT(y[1], INT32_MAX);
  RGT_INT(y[2], 12);
}

/* --- runs ---------------------------------------------------------------------------- */

typedef struct {
  const scene *s;
  int64_t next, runs;
  int failures;
} walk;

/* Runs come in C order and hold neighbours in both memories. */
static void visit(walk *w, int64_t n, int64_t a, int64_t b) {
  for (int64_t i = 0; i < n; i++, w->next++)
    w->failures += place(w->s, 0, w->next) != a + i || place(w->s, 1, w->next) != b + i;
  w->runs++;
}

/* Visits each innermost run of a patch of bytes. */
static void for_each_run(const scene *s, walk *w) {
  int64_t at[RGI_STRIDED_DIMS] = {0}, a = 0, b = 0;
  rgi_strided p = rgi_strided_make(s->dims, s->extent, 1, s->given[1], s->given[0]);
  int64_t rows = p.dims > 1 ? p.extent[1] : p.extent[0] > 0;
  do
    for (int64_t i = 0; i < rows; i++)
      visit(w, p.extent[0], a + (i ? i * p.target_stride[1] : 0),
            b + (i ? i * p.origin_stride[1] : 0));
  while (rgi_strided_step(&p, at, &b, &a));
}

static void test_runs(void) {
  srandom((unsigned)rgt_seed() + 3);
  for (int i = 0; i < 1000; i++) {
    scene s;
    draw(&s);
    walk w = {.s = &s};
    for_each_run(&s, &w);
    RGT_INT(w.next, s.elements);
    RGT_INT(w.failures, 0);
  }
}

/* What lies side by side is one run. */
static void test_joined(void) {
  scene s = {.dims = 4, .extent = {3, 4, 1, 5}, .ld = {{4, 1, 5}, {4, 1, 5}}, .elements = 60};
  walk w = {.s = &s};
  s.given[1] = s.ld[1];
  for_each_run(&s, &w);
  RGT_INT(w.runs, 1);
  RGT_INT(w.failures, 0);
  s.ld[1][0] = 6;
  w = (walk){.s = &s};
  for_each_run(&s, &w);
  RGT_INT(w.runs, 3);
  RGT_INT(w.failures, 0);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"copy", test_copy},
                                   {"accumulate", test_accumulate},
                                   {"accumulate with atomics", test_atomic},
                                   {"integers wrap around", test_wrap},
                                   {"runs", test_runs},
                                   {"joined dimensions", test_joined},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "patch", tests);
}
