/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Functions that change elements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/box.h"
#include "math_cases.h"
#include "math_suites.h"

#define CASES math_cases(40)

static math_array any(rg_array_type type) {
  int64_t shape[RG_ARRAY_MAX_DIMS];
  int dims = math_shape(shape);
  return math_make(NULL, type, dims, shape);
}

/* Another array of the same shape and type, divided in another way. */
static math_array like(const math_array *array) {
  return math_make(NULL, array->type, array->dims, array->shape);
}

void test_fill(void) {
  math_seed(1);
  for (int c = 0; c < CASES; c++) {
    math_array x = any(c % 5 ? math_type() : RG_TYPE_OPAQUE);
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
    math_scalar value;
    if (x.type == RG_TYPE_OPAQUE)
      memcpy(value.bytes, "abcde", 5);
    else
      value = math_element(x.type, math_value(x.type));
    math_patch(&x, lo, hi);
    RGT_OK(rg_array_fill(x.a, lo, hi, &value));
    for (int64_t i = 0, n = math_count(&x, lo, hi); i < n; i++)
      memcpy(x.all + math_index(&x, lo, hi, i) * (int64_t)x.element, value.bytes, x.element);
    RGT_INT(math_differences(&x), 0);
    RGT_OK(rg_array_fill(x.a, NULL, NULL, &value));
    for (int64_t i = 0; i < x.n; i++)
      memcpy(x.all + i * (int64_t)x.element, value.bytes, x.element);
    RGT_INT(math_differences(&x), 0);
    math_free(&x);
  }
}

void test_zero(void) {
  int64_t shape[2] = {9, 8}, ld;
  char *ghosts;
  rg_array_spec spec = {.size = sizeof spec};
  rg_array a;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, shape));
  spec.ghosts[0] = spec.ghosts[1] = 2;
  RGT_OK(rg_array_create(math_world, &spec, &a));
  int64_t lo[2], hi[2], wrong = 0;
  RGT_OK(rg_array_distribution(a, rgt_rank, lo, hi));
  int mine = lo[0] < hi[0] && lo[1] < hi[1];
  if (mine) {
    RGT_OK(rg_array_access_ghosts(a, RG_ACCESS_WRITE, &ghosts, &ld));
    memset(ghosts, 1, (size_t)((hi[0] - lo[0] + 4) * ld) * 8);
    RGT_OK(rg_array_release_ghosts(a));
  }
  RGT_OK(rg_array_zero(a));
  for (int64_t i = 0; mine && i < (hi[0] - lo[0] + 4) * ld * 8; i++)
    wrong += ghosts[i] != 0;
  RGT_INT(wrong, 0);
  RGT_OK(rg_array_free(&a));
  math_seed(2);
  for (int c = 0; c < CASES / 4; c++) {
    math_array x = any(math_type());
    RGT_OK(rg_array_zero(x.a));
    memset(x.all, 0, (size_t)x.n * x.element);
    RGT_INT(math_differences(&x), 0);
    math_free(&x);
  }
}

/* The same in two arrays of other distributions; uniform; another seed differs. */
void test_random(void) {
  math_seed(3);
  for (int c = 0; c < CASES; c++) {
    math_array x = any(math_type()), y = like(&x);
    const int64_t zero[RG_ARRAY_MAX_DIMS] = {0};
    RGT_OK(rg_array_random(x.a, 17));
    RGT_OK(rg_array_random(y.a, 17));
    RGT_OK(rg_array_get(x.a, zero, x.shape, y.all, NULL));
    RGT_INT(math_differences(&y), 0);
    RGT_OK(rg_array_random(x.a, 18));
    memcpy(x.all, y.all, (size_t)x.n * x.element);
    if (x.n)
      RGT_TRUE(math_differences(&x) > x.n * 9 / 10);
    for (int64_t i = 0; i < x.n && x.type >= RG_TYPE_FLOAT; i++)
      RGT_TRUE(creal(math_at(&x, i)) >= 0 && creal(math_at(&x, i)) < 1 &&
               cimag(math_at(&x, i)) >= 0 && cimag(math_at(&x, i)) < 1);
    math_free(&y);
    math_free(&x);
  }
  math_array x = math_make(NULL, RG_TYPE_DOUBLE, 2, (int64_t[]){100, 100});
  double sum;
  RGT_OK(rg_array_random(x.a, rgt_seed()));
  RGT_OK(rg_array_sum(x.a, NULL, NULL, &sum));
  RGT_DBL(sum, 5000, 6 * 28.9); /* 6 standard deviations */
  math_free(&x);
}

void test_scale(void) {
  math_seed(4);
  for (int c = 0; c < CASES; c++) {
    math_array x = any(math_type());
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
    double _Complex factor = math_value(x.type), term = math_value(x.type);
    math_scalar f = math_element(x.type, factor), t = math_element(x.type, term);
    math_patch(&x, lo, hi);
    RGT_OK(rg_array_scale(x.a, lo, hi, &f));
    RGT_OK(rg_array_add_scalar(x.a, NULL, NULL, &t));
    for (int64_t i = 0, n = math_count(&x, lo, hi); i < n; i++) {
      int64_t at = math_index(&x, lo, hi, i);
      math_put(&x, at, math_at(&x, at) * factor);
    }
    for (int64_t i = 0; i < x.n; i++)
      math_put(&x, i, math_at(&x, i) + term);
    RGT_INT(math_differences(&x), 0);
    math_free(&x);
  }
}

/* Whole arrays; into one of the operands; patches of larger arrays, also with
 * dimensions of extent 1 added. */
static void add_patches(void) {
  int64_t shape[RG_ARRAY_MAX_DIMS], lo[3][RG_ARRAY_MAX_DIMS], hi[3][RG_ARRAY_MAX_DIMS], n = 1;
  int dims = math_shape(shape);
  rg_array_type type = math_type();
  math_array x[3];
  double _Complex alpha = math_value(type), beta = math_value(type);
  math_scalar s = math_element(type, alpha), t = math_element(type, beta);
  for (int d = 0; d < dims; d++)
    n *= shape[d];
  for (int k = 0; k < 3; k++) {
    int64_t large[RG_ARRAY_MAX_DIMS];
    int m = 0;
    for (int d = 0; d < dims; d++) {
      int insert = dims < RG_ARRAY_MAX_DIMS && m == d && math_draw(3) == 0;
      if (insert) {
        large[m] = 1 + math_draw(3);
        lo[k][m] = math_draw(large[m]);
        hi[k][m] = lo[k][m] + 1;
        m++;
      }
      lo[k][m] = math_draw(3);
      hi[k][m] = lo[k][m] + shape[d];
      large[m] = hi[k][m] + math_draw(3);
      m++;
    }
    x[k] = math_make(NULL, type, m, large);
  }
  RGT_OK(
      rg_array_add_patch(&s, x[0].a, lo[0], hi[0], &t, x[1].a, lo[1], hi[1], x[2].a, lo[2], hi[2]));
  for (int64_t i = 0; i < n; i++)
    math_put(&x[2], math_index(&x[2], lo[2], hi[2], i),
             alpha * math_at(&x[0], math_index(&x[0], lo[0], hi[0], i)) +
                 beta * math_at(&x[1], math_index(&x[1], lo[1], hi[1], i)));
  RGT_INT(math_differences(&x[2]), 0);
  for (int k = 0; k < 3; k++)
    math_free(&x[k]);
}

void test_add(void) {
  math_seed(5);
  for (int c = 0; c < CASES; c++) {
    math_array a = any(math_type()), b = like(&a), d = like(&a);
    math_array *to = c % 3 == 0 ? &a : c % 3 == 1 ? &b : &d;
    double _Complex alpha = math_value(a.type), beta = math_value(a.type);
    math_scalar s = math_element(a.type, alpha), t = math_element(a.type, beta);
    RGT_OK(rg_array_add(&s, a.a, &t, b.a, to->a));
    for (int64_t i = 0; i < a.n; i++)
      math_put(to, i, alpha * math_at(&a, i) + beta * math_at(&b, i));
    RGT_INT(math_differences(to), 0);
    math_free(&d);
    math_free(&b);
    math_free(&a);
    add_patches();
  }
}

void test_combine(void) {
  math_seed(6);
  for (int c = 0; c < CASES; c++) {
    rg_combine_operation op = (rg_combine_operation)(c % 4);
    math_array a = any(op == RG_COMBINE_MULTIPLY || op == RG_COMBINE_DIVIDE ? math_type()
                                                                            : math_ordered_type());
    math_array b = like(&a), d = like(&a);
    for (int64_t i = 0; i < a.n && op == RG_COMBINE_DIVIDE; i++) /* exact quotients */
      math_put(&b, i, math_draw(2) ? 2 : -1);
    math_set(&b);
    if (a.type == RG_TYPE_INT32 || a.type == RG_TYPE_INT64)
      math_draw(2);
    RGT_OK(rg_array_combine(op, a.a, b.a, d.a));
    for (int64_t i = 0; i < a.n; i++) {
      double _Complex x = math_at(&a, i), y = math_at(&b, i);
      math_put(&d, i,
               op == RG_COMBINE_MULTIPLY  ? x * y
               : op == RG_COMBINE_DIVIDE  ? x / y
               : op == RG_COMBINE_MINIMUM ? (creal(x) < creal(y) ? x : y)
                                          : (creal(x) > creal(y) ? x : y));
    }
    RGT_INT(math_differences(&d), 0);
    math_free(&d);
    math_free(&b);
    math_free(&a);
  }
}

/* Patches of the same extents of larger arrays, each divided in its own way, also with dimensions
 * of extent 1 added. */
typedef struct {
  math_array x[4];
  int64_t lo[4][RG_ARRAY_MAX_DIMS], hi[4][RG_ARRAY_MAX_DIMS], n;
  rg_array_patch patch[4];
} drawn_patches;

static void draw_patches(drawn_patches *drawn, rg_array_type type, int count) {
  int64_t shape[RG_ARRAY_MAX_DIMS];
  int dims = math_shape(shape);
  drawn->n = 1;
  for (int d = 0; d < dims; d++)
    drawn->n *= shape[d];
  for (int k = 0; k < count; k++) {
    int64_t large[RG_ARRAY_MAX_DIMS], *lo = drawn->lo[k], *hi = drawn->hi[k];
    int m = 0, insert = dims < RG_ARRAY_MAX_DIMS ? (int)math_draw(dims + 1) : -1;
    for (int d = 0; d <= dims; d++) {
      if (d == insert && math_draw(2)) {
        large[m] = 1 + math_draw(3);
        lo[m] = math_draw(large[m]);
        hi[m] = lo[m] + 1;
        m++;
      }
      if (d == dims)
        break;
      lo[m] = math_draw(3);
      hi[m] = lo[m] + shape[d];
      large[m] = hi[m] + math_draw(3);
      m++;
    }
    drawn->x[k] = math_make(NULL, type, m, large);
    drawn->patch[k] = (rg_array_patch){drawn->x[k].a, lo, hi};
  }
}

static void free_patches(drawn_patches *drawn, int count) {
  for (int k = 0; k < count; k++)
    math_free(&drawn->x[k]);
}

static int64_t place_of(const drawn_patches *drawn, int k, int64_t i) {
  return math_index(&drawn->x[k], drawn->lo[k], drawn->hi[k], i);
}

static double _Complex drawn_at(const drawn_patches *drawn, int k, int64_t i) {
  return math_at(&drawn->x[k], place_of(drawn, k, i));
}

static double median(double x, double y, double z) {
  return fmax(fmin(x, y), fmin(fmax(x, y), z));
}

static double _Complex combined(const drawn_patches *drawn, rg_combine_operation op, int64_t i) {
  double _Complex x = drawn_at(drawn, 1, i);
  if (op == RG_COMBINE_ABSOLUTE)
    return cabs(x);
  if (op == RG_COMBINE_RECIPROCAL)
    return 1 / x;
  double _Complex y = drawn_at(drawn, 2, i);
  return op == RG_COMBINE_MULTIPLY  ? x * y
         : op == RG_COMBINE_DIVIDE  ? x / y
         : op == RG_COMBINE_MINIMUM ? fmin(creal(x), creal(y))
         : op == RG_COMBINE_MAXIMUM ? fmax(creal(x), creal(y))
                                    : median(creal(x), creal(y), creal(drawn_at(drawn, 3, i)));
}

/* Divisors whose quotients are whole, and complex numbers whose absolute values are. */
static void make_exact(math_array *x, rg_combine_operation op) {
  for (int64_t i = 0; i < x->n; i++)
    if (op == RG_COMBINE_DIVIDE || op == RG_COMBINE_RECIPROCAL)
      math_put(x, i, math_draw(2) ? 1 : -1);
    else if (op == RG_COMBINE_ABSOLUTE && cimag(math_at(x, i)) != 0)
      math_put(x, i, (double)(math_draw(5) - 2) * (3 + 4 * I));
  math_set(x);
}

void test_combine_patches(void) {
  static const int patches[] = {3, 3, 3, 3, 2, 2, 4};
  math_seed(12);
  for (int c = 0; c < 2 * CASES; c++) {
    rg_combine_operation op = (rg_combine_operation)(c % 7);
    drawn_patches drawn;
    int n = patches[op], target = 0;
    int order = op == RG_COMBINE_MINIMUM || op == RG_COMBINE_MAXIMUM || op == RG_COMBINE_MEDIAN;
    draw_patches(&drawn, order ? math_ordered_type() : math_type(), n);
    make_exact(&drawn.x[n == 2 ? 1 : 2], op);
    double _Complex *expected = calloc((size_t)drawn.n + 1, sizeof *expected);
    for (int64_t i = 0; i < drawn.n; i++)
      expected[i] = combined(&drawn, op, i);
    if (math_draw(3) == 0) {
      target = 1 + (int)math_draw(n - 1); /* into an operand */
      drawn.patch[0] = drawn.patch[target];
    }
    RGT_OK(rg_array_combine_patches(op, n, drawn.patch));
    for (int64_t i = 0; i < drawn.n; i++)
      math_put(&drawn.x[target], place_of(&drawn, target, i), expected[i]);
    RGT_INT(math_differences(&drawn.x[target]), 0);
    free(expected);
    free_patches(&drawn, n);
  }
}

/* patch[0] = patch[0] + patch[1] + ... in a function that counts its elements; one that fails on
 * the last member that has elements. */
typedef struct {
  rg_array_type type;
  size_t element;
  int n, fail;
  int64_t seen;
} adding;

static int add_rows(int64_t n, void *const at[], void *context) {
  adding *add = context;
  for (int64_t i = 0; i < n; i++) {
    double _Complex sum = 0;
    for (int k = 0; k < add->n; k++)
      sum += math_number(add->type, (char *)at[k] + i * (int64_t)add->element);
    math_scalar s = math_element(add->type, sum);
    memcpy((char *)at[0] + i * (int64_t)add->element, s.bytes, add->element);
  }
  add->seen += n;
  return add->fail ? rg_error_set(RG_ERR_USER, "row") : RG_SUCCESS;
}

void test_map_patches(void) {
  math_seed(13);
  for (int c = 0; c < CASES; c++) {
    drawn_patches drawn;
    int n = 1 + (int)math_draw(4);
    rg_array_type type = math_type();
    draw_patches(&drawn, type, n);
    adding add = {.type = type, .element = drawn.x[0].element, .n = n};
    for (int64_t i = 0; i < drawn.n; i++) {
      double _Complex sum = 0;
      for (int k = 0; k < n; k++)
        sum += drawn_at(&drawn, k, i);
      math_put(&drawn.x[0], place_of(&drawn, 0, i), sum);
    }
    RGT_OK(rg_array_map_patches(n, drawn.patch, add_rows, &add));
    RGT_INT(math_differences(&drawn.x[0]), 0);
    RGT_OK(rg_allreduce(math_world, MPI_IN_PLACE, &add.seen, 1, MPI_INT64_T, MPI_SUM));
    RGT_INT(add.seen, drawn.n);
    add.fail = 1;
    if (drawn.n)
      RGT_FAILS(rg_array_map_patches(n, drawn.patch, add_rows, &add), RG_ERR_USER);
    free_patches(&drawn, n);
  }
}

/* The wrong number of patches, types that differ, a patch that overlaps another one in part. */
void test_patches_wrong(void) {
  rg_array a, b;
  const int64_t lo[1] = {0}, hi[1] = {5}, next[1] = {1}, last[1] = {6};
  RGT_OK(rg_array_create_simple(math_world, RG_TYPE_DOUBLE, 1, (int64_t[]){9}, &a));
  RGT_OK(rg_array_create_simple(math_world, RG_TYPE_DOUBLE_COMPLEX, 1, (int64_t[]){9}, &b));
  RGT_OK(rg_array_zero(a));
  RGT_OK(rg_array_zero(b));
  rg_array_patch patch[4] = {{a, lo, hi}, {a, next, last}, {a, lo, hi}, {a, lo, hi}};
  adding add = {.type = RG_TYPE_DOUBLE, .element = 8, .n = 1};
  double step[3];
  RGT_FAILS(rg_array_combine_patches(RG_COMBINE_MEDIAN, 4, patch), RG_ERR_ARG);
  RGT_FAILS(rg_array_combine_patches(RG_COMBINE_MEDIAN, 4, NULL), RG_ERR_ARG);
  patch[1] = patch[0];
  RGT_OK(rg_array_combine_patches(RG_COMBINE_MEDIAN, 4, patch));
  RGT_FAILS(rg_array_combine_patches(RG_COMBINE_MEDIAN, 3, patch), RG_ERR_ARG);
  RGT_FAILS(rg_array_combine_patches((rg_combine_operation)7, 3, patch), RG_ERR_ARG);
  RGT_FAILS(rg_array_map_patches(0, patch, add_rows, &add), RG_ERR_ARG);
  RGT_FAILS(rg_array_map_patches(5, patch, add_rows, &add), RG_ERR_ARG);
  RGT_FAILS(rg_array_map_patches(1, patch, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_step_bounds(3, patch, step), RG_ERR_ARG);
  RGT_FAILS(rg_array_step_bounds(2, patch, NULL), RG_ERR_ARG);
  patch[1].array = b;
  RGT_FAILS(rg_array_combine_patches(RG_COMBINE_ABSOLUTE, 2, patch), RG_ERR_ARG);
  patch[0].array = b;
  RGT_FAILS(rg_array_combine_patches(RG_COMBINE_MINIMUM, 3, patch), RG_ERR_ARG);
  RGT_FAILS(rg_array_step_bounds(2, patch, step), RG_ERR_ARG);
  patch[0].lo = NULL;
  RGT_FAILS(rg_array_map_patches(1, patch, add_rows, &add), RG_ERR_ARG);
  RGT_OK(rg_array_free(&b));
  RGT_OK(rg_array_free(&a));
}

/* x, v and bounds of small whole numbers: some elements are at their bounds, some do not move. */
void test_step_bounds(void) {
  math_seed(14);
  for (int c = 0; c < CASES; c++) {
    drawn_patches drawn;
    int n = c % 2 ? 2 : 4;
    draw_patches(&drawn, math_ordered_type(), n);
    double least[3] = {HUGE_VAL, HUGE_VAL, -HUGE_VAL}, step[3];
    for (int64_t i = 0; i < drawn.n; i++) {
      double x = creal(drawn_at(&drawn, 0, i)), v = creal(drawn_at(&drawn, 1, i));
      double lower = n == 4 ? creal(drawn_at(&drawn, 2, i)) : 0;
      double upper = n == 4 ? creal(drawn_at(&drawn, 3, i)) : HUGE_VAL;
      double t = v > 0 ? (upper - x) / v : v < 0 ? (lower - x) / v : HUGE_VAL;
      if (v == 0 && (x == lower || x == upper))
        t = 0;
      least[0] = fmin(least[0], t);
      least[1] = v != 0 ? fmin(least[1], t) : least[1];
      least[2] = fmax(least[2], t);
    }
    RGT_OK(rg_array_step_bounds(n, drawn.patch, step));
    RGT_TRUE(step[0] == least[0] && step[1] == least[1] && step[2] == least[2]);
    free_patches(&drawn, n);
  }
}

/* Integers by 0 and by -1. */
void test_divide(void) {
  math_seed(7);
  const rg_array_type types[2] = {RG_TYPE_INT32, RG_TYPE_INT64};
  for (int t = 0; t < 2; t++) {
    math_array a = math_make(NULL, types[t], 1, (int64_t[]){20}), b = like(&a);
    const math_scalar least = t ? (math_scalar){.i64 = INT64_MIN} : (math_scalar){.i32 = INT32_MIN};
    math_scalar minus = math_element(types[t], -1), null = math_element(types[t], 0);
    RGT_OK(rg_array_fill(a.a, NULL, NULL, &least));
    RGT_OK(rg_array_fill(b.a, NULL, NULL, &minus));
    RGT_OK(rg_array_combine(RG_COMBINE_DIVIDE, a.a, b.a, b.a));
    for (int64_t i = 0; i < b.n; i++)
      memcpy(b.all + i * (int64_t)b.element, least.bytes, b.element);
    RGT_INT(math_differences(&b), 0);
    RGT_OK(rg_array_fill(b.a, (int64_t[]){13}, (int64_t[]){14}, &null));
    RGT_FAILS(rg_array_combine(RG_COMBINE_DIVIDE, a.a, b.a, a.a), RG_ERR_ARG);
    math_free(&b);
    math_free(&a);
  }
}

/* Each element is seen once, with its index, by its owner. */
typedef struct {
  const math_array *x;
  int64_t seen, stop;
} seeing;

static int see(void *elements, int64_t n, const int64_t at[], void *context) {
  seeing *s = context;
  int owner, last = s->x->dims - 1;
  for (int64_t i = 0; i < n; i++) {
    int64_t index = 0, here[RG_ARRAY_MAX_DIMS];
    memcpy(here, at, sizeof(int64_t) * (size_t)s->x->dims);
    here[last] += i;
    for (int d = 0; d <= last; d++)
      index = index * s->x->shape[d] + here[d];
    math_scalar v = math_element(s->x->type, (double)(index % 1000));
    memcpy((char *)elements + i * (int64_t)s->x->element, v.bytes, s->x->element);
    RGT_OK(rg_array_owner(s->x->a, here, &owner));
    rg_group g;
    int me;
    RGT_OK(rg_array_group(s->x->a, &g));
    RGT_OK(rg_group_rank(g, &me));
    RGT_INT(owner, me);
    s->seen++;
  }
  return s->seen >= s->stop ? rg_error_set(RG_ERR_USER + 7, "seen %d", 7) : 0;
}

void test_map(void) {
  math_seed(8);
  for (int c = 0; c < CASES; c++) {
    math_array x = any(math_type());
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS], seen;
    seeing s = {&x, 0, INT64_MAX};
    math_patch(&x, lo, hi);
    RGT_OK(rg_array_map(x.a, lo, hi, see, &s));
    for (int64_t i = 0, n = math_count(&x, lo, hi); i < n; i++) {
      int64_t at = math_index(&x, lo, hi, i);
      math_put(&x, at, (double)(at % 1000));
    }
    RGT_INT(math_differences(&x), 0);
    RGT_OK(rg_allreduce(math_world, &s.seen, &seen, 1, MPI_INT64_T, MPI_SUM));
    RGT_INT(seen, math_count(&x, lo, hi));
    s.stop = 1;
    if (seen > 0)
      RGT_FAILS(rg_array_map(x.a, lo, hi, see, &s), RG_ERR_USER + 7);
    math_free(&x);
  }
}

/* --- ghosts ------------------------------------------------------------------------------- */

/* What ghost cell (or element) `at` is to hold; 0: it is beyond a fixed edge. */
static int ghost_value(const math_array *array, const rg_array_spec *spec, const int64_t at[],
                       double _Complex *value) {
  int64_t index = 0;
  for (int d = 0; d < array->dims; d++) {
    int64_t i = at[d];
    if (spec->periodic[d])
      i = (i % array->shape[d] + array->shape[d]) % array->shape[d];
    if (i < 0 || i >= array->shape[d])
      return 0;
    index = index * array->shape[d] + i;
  }
  *value = math_at(array, index);
  return 1;
}

static int64_t wrong_ghosts(const math_array *array, const rg_array_spec *spec, const int64_t lo[],
                            const int64_t hi[], char *memory, const int64_t ld[]) {
  int64_t at[RG_ARRAY_MAX_DIMS], wrong = 0;
  int d, beyond = 0x5a;
  for (d = 0; d < array->dims; d++)
    at[d] = lo[d] - spec->ghosts[d];
  do {
    int64_t offset = 0;
    double _Complex value;
    for (d = 0; d < array->dims; d++)
      offset = offset * (d ? ld[d - 1] : 1) + at[d] - (lo[d] - spec->ghosts[d]);
    const char *cell = memory + offset * (int64_t)array->element;
    wrong += ghost_value(array, spec, at, &value) ? math_number(array->type, cell) != value
                                                  : cell[0] != (char)beyond;
    for (d = array->dims - 1; d >= 0 && ++at[d] == hi[d] + spec->ghosts[d]; d--)
      at[d] = lo[d] - spec->ghosts[d];
  } while (d >= 0);
  return wrong;
}

void test_ghosts(void) {
  math_seed(9);
  for (int c = 0; c < 2 * CASES; c++) {
    math_array x = any(math_type());
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS], ld[RG_ARRAY_MAX_DIMS], cells = 1;
    rg_array_spec spec = {.size = sizeof spec};
    rg_group g;
    int me, mine = 1;
    char *memory;
    RGT_OK(rg_array_info(x.a, &spec));
    RGT_OK(rg_array_group(x.a, &g));
    RGT_OK(rg_group_rank(g, &me));
    RGT_OK(rg_array_distribution(x.a, me, lo, hi));
    for (int d = 0; d < x.dims; d++) {
      mine = mine && lo[d] < hi[d] && spec.layout < RG_LAYOUT_BLOCK_CYCLIC;
      cells *= hi[d] - lo[d] + 2 * spec.ghosts[d];
    }
    if (mine) {
      RGT_OK(rg_array_access_ghosts(x.a, RG_ACCESS_WRITE, &memory, ld));
      memset(memory, 0x5a, (size_t)cells * x.element);
      RGT_OK(rg_array_release_ghosts(x.a));
    }
    RGT_OK(rg_array_sync(x.a));
    math_set(&x);
    RGT_OK(rg_array_update_ghosts(x.a));
    if (mine)
      RGT_INT(wrong_ghosts(&x, &spec, lo, hi, memory, ld), 0);
    RGT_INT(math_differences(&x), 0);
    math_free(&x);
  }
}

/* --- print -------------------------------------------------------------------------------- */

static void count_row(void *context, int64_t n, char *const at[]) {
  int64_t *seen = context;
  (void)at;
  seen[0]++;
  seen[1] += n;
}

/* Of arrays that are dealt out alike each member's elements are one run, however short the chunks.
 */
void test_runs(void) {
  const int64_t shape[2] = {23, 31};
  rg_array_spec spec = {.size = sizeof spec};
  rgi_operand operand[2];
  int64_t seen[2] = {0}, all;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_INT64, 2, shape));
  spec.layout = RG_LAYOUT_BLOCK_CYCLIC;
  spec.chunk[0] = spec.chunk[1] = 1;
  for (int k = 0; k < 2; k++) {
    RGT_OK(rg_array_create(math_world, &spec, &operand[k].a));
    RGT_OK(rgi_operand_make(__func__, operand[k].a, NULL, NULL, &operand[k]));
  }
  RGT_OK(rgi_box_rows(2, operand, count_row, seen));
  RGT_INT(seen[0], 1);
  MPI_Allreduce(&seen[1], &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(all, shape[0] * shape[1]);
  for (int k = 0; k < 2; k++)
    RGT_OK(rg_array_free(&operand[k].a));
}

typedef struct {
  char text[200];
  int most; /* lines before an error of the application's */
} line_list;

static int add_line(const char *text, void *context) {
  line_list *list = context;
  if (list->most-- == 0)
    return rg_error_set(77, "no more lines");
  strcat(strcat(list->text, text), "|");
  return RG_SUCCESS;
}

static void test_print_lines(rg_array a) {
  line_list list = {.most = 6}, less = {.most = 1};
  const int64_t lo[3] = {0, 0, 1}, hi[3] = {2, 2, 3};
  RGT_OK(rg_array_print_lines(a, lo, hi, add_line, &list));
  RGT_STR(list.text, rgt_rank > 0 ? ""
                                  : "[0, 0:2, 1:3]|     0:           1           2|"
                                    "     1:           4           5|[1, 0:2, 1:3]|"
                                    "     0:           7           8|"
                                    "     1:          10          11|");
  RGT_INT(rg_array_print_lines(a, lo, hi, add_line, &less), 77);
  RGT_TRUE(strstr(rg_error_detail(), "no more lines") != NULL);
  RGT_FAILS(rg_array_print_lines(a, lo, hi, NULL, NULL), RG_ERR_ARG);
}

void test_print(void) {
  math_seed(10);
  math_array x = math_make(math_world, RG_TYPE_INT32, 3, (int64_t[]){2, 2, 3});
  char *text = NULL;
  size_t length;
  FILE *file = rgt_rank == 0 ? open_memstream(&text, &length) : NULL;
  seeing s = {&x, 0, INT64_MAX};
  RGT_OK(rg_array_map(x.a, NULL, NULL, see, &s));
  RGT_OK(rg_array_print(x.a, (int64_t[]){0, 0, 1}, (int64_t[]){2, 2, 3}, file));
  if (rgt_rank == 0) {
    fclose(file);
    RGT_STR(text, "[0, 0:2, 1:3]\n"
                  "     0:           1           2\n"
                  "     1:           4           5\n"
                  "[1, 0:2, 1:3]\n"
                  "     0:           7           8\n"
                  "     1:          10          11\n");
    free(text);
  }
  RGT_FAILS(rg_array_print(x.a, NULL, NULL, NULL), RG_ERR_ARG);
  test_print_lines(x.a);
  FILE *full = rgt_rank == 0 ? fopen("/dev/full", "w") : NULL;
  RGT_FAILS(rg_array_print(x.a, NULL, NULL, full), RG_ERR_FILE);
  if (full)
    fclose(full);
  math_free(&x);
  for (int c = 0; c < RG_TYPE_COUNT; c++) { /* all types, to a file that takes all */
    math_array y = any((rg_array_type)c);
    FILE *sink = rgt_rank == 0 || rgt_rank == rgt_size - 1 ? fopen("/dev/null", "w") : NULL;
    RGT_OK(rg_array_print(y.a, NULL, NULL, sink));
    if (sink)
      fclose(sink);
    math_free(&y);
  }
}

/* start + i step in the patch, in any layout. */
void test_enumerate(void) {
  math_seed(15);
  for (int c = 0; c < CASES; c++) {
    math_array x = any(math_type());
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
    double _Complex start = math_value(x.type), step = math_value(x.type);
    math_scalar s = math_element(x.type, start), t = math_element(x.type, step);
    math_patch(&x, lo, hi);
    RGT_OK(rg_array_enumerate(x.a, lo, hi, &s, &t));
    for (int64_t i = 0, n = math_count(&x, lo, hi); i < n; i++)
      math_put(&x, math_index(&x, lo, hi, i), start + (double)i * step);
    RGT_INT(math_differences(&x), 0);
    math_free(&x);
  }
}

void test_scale_along(void) {
  math_seed(16);
  for (int c = 0; c < CASES; c++) {
    math_array x = any(math_type());
    int dimension = (int)math_draw(x.dims);
    math_array v = math_make(NULL, x.type, 1, &x.shape[dimension]);
    int64_t inner = 1;
    for (int d = dimension + 1; d < x.dims; d++)
      inner *= x.shape[d];
    for (int64_t i = 0; i < x.n; i++)
      math_put(&x, i, math_at(&x, i) * math_at(&v, i / inner % x.shape[dimension]));
    RGT_OK(rg_array_scale_along(x.a, dimension, v.a));
    RGT_INT(math_differences(&x), 0);
    RGT_FAILS(rg_array_scale_along(x.a, x.dims, v.a), RG_ERR_ARG);
    RGT_FAILS(rg_array_scale_along(x.a, dimension, x.a), RG_ERR_ARG);
    math_free(&v);
    math_free(&x);
  }
}
