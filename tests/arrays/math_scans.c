/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Scans in segments, packing and unpacking, against loops over the references. */
#include <string.h>

#include "math_cases.h"
#include "math_suites.h"

/* Three vectors of one length, divided in three ways: a, the mask and b. */
typedef struct {
  math_array a, mask, b;
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
} vectors;

/* Now and then so long that a member has several blocks. */
static void draw_vectors(vectors *drawn, rg_array_type type) {
  int64_t n = math_draw(12) ? math_draw(60) : 20000 + math_draw(20000), flags = 1 + math_draw(9);
  drawn->a = math_make(NULL, type, 1, &n);
  drawn->b = math_make(NULL, type, 1, &n);
  drawn->mask = math_make(NULL, math_draw(2) ? RG_TYPE_INT32 : RG_TYPE_INT64, 1, &n);
  for (int64_t i = 0; i < n; i++)
    math_put(&drawn->mask, i, math_draw(flags) ? 0 : 1 + (double)math_draw(3));
  math_set(&drawn->mask);
  math_patch(&drawn->a, drawn->lo, drawn->hi);
}

static void free_vectors(vectors *drawn) {
  math_free(&drawn->mask);
  math_free(&drawn->b);
  math_free(&drawn->a);
}

static int is_flagged(const vectors *drawn, int64_t i) {
  return math_at(&drawn->mask, i) != 0;
}

static char *element(const math_array *x, int64_t i) {
  return x->all + i * (int64_t)x->element;
}

void test_scan(void) {
  math_seed(60);
  for (int c = 0; c < math_cases(60); c++) {
    rg_scan_kind kind = (rg_scan_kind)(c % 3);
    vectors drawn;
    draw_vectors(&drawn, kind == RG_SCAN_COPY && c % 2 ? RG_TYPE_OPAQUE : math_type());
    int in_place = math_draw(4) == 0;
    math_array *a = &drawn.a, *b = in_place ? a : &drawn.b;
    double _Complex sum = 0, x;
    char copied[16];
    int known = 0;
    for (int64_t i = drawn.lo[0]; i < drawn.hi[0]; i++) {
      if (is_flagged(&drawn, i)) {
        memcpy(copied, element(a, i), a->element);
        known = 1;
        sum = 0;
      }
      if (kind == RG_SCAN_COPY) {
        if (known)
          memcpy(element(b, i), copied, a->element);
        continue;
      }
      x = math_at(a, i);
      math_put(b, i, kind == RG_SCAN_ADD ? sum + x : sum);
      sum += x;
    }
    RGT_OK(rg_array_scan(kind, a->a, drawn.mask.a, b->a, drawn.lo[0], drawn.hi[0]));
    RGT_INT(math_differences(b), 0);
    free_vectors(&drawn);
  }
}

void test_pack(void) {
  math_seed(61);
  for (int c = 0; c < math_cases(40); c++) {
    vectors drawn;
    draw_vectors(&drawn, c % 4 ? math_type() : RG_TYPE_OPAQUE);
    int unpack = c % 2;
    int64_t n = 0, count = -1;
    for (int64_t i = drawn.lo[0]; i < drawn.hi[0]; i++)
      if (is_flagged(&drawn, i)) {
        memcpy(element(&drawn.b, unpack ? i : n), element(&drawn.a, unpack ? n : i),
               drawn.a.element);
        n++;
      }
    RGT_OK((unpack ? rg_array_unpack : rg_array_pack)(drawn.a.a, drawn.mask.a, drawn.b.a,
                                                      drawn.lo[0], drawn.hi[0], &count));
    RGT_INT(count, n);
    RGT_INT(math_differences(&drawn.b), 0);
    free_vectors(&drawn);
  }
}

/* A mask of floats, two dimensions, another type, too little room, too long a range. */
void test_scans_wrong(void) {
  math_seed(62);
  const int64_t n = 9, few = 3, square[2] = {3, 3};
  math_array a = math_make(NULL, RG_TYPE_DOUBLE, 1, &n),
             b = math_make(NULL, RG_TYPE_DOUBLE, 1, &few);
  math_array mask = math_make(NULL, RG_TYPE_INT64, 1, &n),
             matrix = math_make(NULL, RG_TYPE_DOUBLE, 2, square);
  int64_t one = 1, count;
  RGT_OK(rg_array_fill(mask.a, NULL, NULL, &one));
  RGT_FAILS(rg_array_scan(RG_SCAN_ADD, a.a, a.a, a.a, 0, 9), RG_ERR_ARG);
  RGT_FAILS(rg_array_scan(RG_SCAN_ADD, matrix.a, mask.a, a.a, 0, 3), RG_ERR_ARG);
  RGT_FAILS(rg_array_scan(RG_SCAN_ADD, a.a, mask.a, mask.a, 0, 9), RG_ERR_ARG);
  RGT_FAILS(rg_array_scan((rg_scan_kind)3, a.a, mask.a, a.a, 0, 9), RG_ERR_ARG);
  RGT_FAILS(rg_array_scan(RG_SCAN_ADD, a.a, mask.a, a.a, 0, 10), RG_ERR_BOUNDS);
  RGT_FAILS(rg_array_scan(RG_SCAN_ADD, a.a, mask.a, b.a, 0, 9), RG_ERR_BOUNDS);
  RGT_FAILS(rg_array_pack(a.a, mask.a, b.a, 0, 9, &count), RG_ERR_BOUNDS);
  RGT_FAILS(rg_array_unpack(b.a, mask.a, a.a, 0, 9, &count), RG_ERR_BOUNDS);
  RGT_FAILS(rg_array_pack(a.a, mask.a, a.a, 0, 9, &count), RG_ERR_ARG);
  RGT_FAILS(rg_array_pack(a.a, mask.a, b.a, 0, 9, NULL), RG_ERR_ARG);
  RGT_INT(math_differences(&a), 0);
  RGT_INT(math_differences(&b), 0);
  math_free(&matrix);
  math_free(&mask);
  math_free(&b);
  math_free(&a);
}
