/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Sums of elements. Integers are added modulo 2^64, everything else in doubles (total.h). */
#include <regroup/array_math.h>

#include "base/error.h"
#include "math/box.h"
#include "math/total.h"
#include "math/typed_loops.h"

RGI_FAST_LOOPS

typedef void sum_loop(int64_t n, const char *at, rgi_total *total);

#define INTEGER(TYPE, name, type, work)                                                            \
  static void sum_##name(int64_t n, const char *at, rgi_total *t) {                                \
    const type *x = (const type *)(const void *)at;                                                \
    uint64_t sum = 0;                                                                              \
    for (int64_t i = 0; i < n; i++)                                                                \
      sum += (uint64_t)(int64_t)x[i];                                                              \
    t->integer += sum;                                                                             \
  }
RGI_EACH_INTEGER(INTEGER)

#define AT(i) ((double)x[i])
#define RE(i) ((double)x[2 * (i)])
#define IM(i) ((double)x[2 * (i) + 1])
#define REAL(TYPE, name, type, work)                                                               \
  static void sum_##name(int64_t n, const char *at, rgi_total *t) {                                \
    const type *x = (const type *)(const void *)at;                                                \
    RGI_SUM(t->real, n, AT)                                                                        \
  }                                                                                                \
  static void sum_##name##_complex(int64_t n, const char *at, rgi_total *t) {                      \
    const type *x = (const type *)(const void *)at;                                                \
    RGI_SUM(t->real, n, RE)                                                                        \
    RGI_SUM(t->imaginary, n, IM)                                                                   \
  }
RGI_EACH_REAL(REAL)

#define ENTRY(TYPE, name, type, work) [TYPE] = sum_##name,
static sum_loop *const loops[RG_TYPE_COUNT] = {RGI_EACH_TYPE(ENTRY)};

typedef struct {
  sum_loop *f;
  rgi_total total;
} sum_call;

static int sum_box(void *context, const rgi_box *box) {
  sum_call *j = context;
  rgi_box_rows rows;
  for (rgi_box_rows_start(&rows, box); rows.n; rgi_box_rows_next(&rows))
    j->f(rows.n, rows.at[0], &j->total);
  return RG_SUCCESS;
}

int rg_array_sum(rg_array a, const int64_t lo[], const int64_t hi[], void *sum) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  RGI_TRY(rgi_operand_arithmetic(__func__, &operand));
  RGI_REQUIRE(sum);
  sum_call j = {loops[a->type], {0, 0, 0}};
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  RGI_TRY(rgi_box_each(1, &operand, sum_box, &j));
  RGI_TRY(rgi_total_all(a, &j.total));
  rgi_total_store(a->type, &j.total, sum);
  return RG_SUCCESS;
}
