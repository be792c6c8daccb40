/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Scalar products. Integers are computed modulo 2^64; everything else is summed in doubles
 * (total.h). */
#include <regroup/array_math.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "math/box.h"
#include "math/total.h"
#include "math/typed_loops.h"

RGI_FAST_LOOPS

typedef void dot_loop(int64_t n, const char *a, const char *b, rgi_total *total);

#define INTEGER(TYPE, name, type, work)                                                            \
  static void dot_##name(int64_t n, const char *a, const char *b, rgi_total *t) {                  \
    const type *x = (const type *)(const void *)a, *y = (const type *)(const void *)b;             \
    uint64_t sum = 0;                                                                              \
    for (int64_t i = 0; i < n; i++)                                                                \
      sum += (uint64_t)(int64_t)x[i] * (uint64_t)(int64_t)y[i];                                    \
    t->integer += sum;                                                                             \
  }
RGI_EACH_INTEGER(INTEGER)

#define X(i) ((double)x[i])
#define Y(i) ((double)y[i])
#define AT(i) (X(i) * Y(i))
#define RE(i) (X(2 * (i)) * Y(2 * (i)) - X(2 * (i) + 1) * Y(2 * (i) + 1))
#define IM(i) (X(2 * (i)) * Y(2 * (i) + 1) + X(2 * (i) + 1) * Y(2 * (i)))
#define REAL(TYPE, name, type, work)                                                               \
  static void dot_##name(int64_t n, const char *a, const char *b, rgi_total *t) {                  \
    const type *x = (const type *)(const void *)a, *y = (const type *)(const void *)b;             \
    RGI_SUM(t->real, n, AT)                                                                        \
  }                                                                                                \
  static void dot_##name##_complex(int64_t n, const char *a, const char *b, rgi_total *t) {        \
    const type *x = (const type *)(const void *)a, *y = (const type *)(const void *)b;             \
    RGI_SUM(t->real, n, RE)                                                                        \
    RGI_SUM(t->imaginary, n, IM)                                                                   \
  }
RGI_EACH_REAL(REAL)

#define ENTRY(TYPE, name, type, work) [TYPE] = dot_##name,
static dot_loop *const loops[RG_TYPE_COUNT] = {RGI_EACH_TYPE(ENTRY)};

typedef struct {
  dot_loop *f;
  rgi_total total;
} dot_call;

static int dot_box(void *context, const rgi_box *box) {
  dot_call *j = context;
  rgi_box_rows rows;
  for (rgi_box_rows_start(&rows, box); rows.n; rgi_box_rows_next(&rows))
    j->f(rows.n, rows.at[0], rows.at[1], &j->total);
  return RG_SUCCESS;
}

static int dot_of(const char *call, const rgi_operand operand[2], void *dot) {
  rg_array a = operand[0].a;
  if (!dot)
    return rgi_error(RG_ERR_ARG, "%s: dot is NULL", call);
  RGI_TRY(rgi_operand_arithmetic(call, &operand[0]));
  RGI_TRY(rgi_operands_alike(call, &operand[0], &operand[1]));
  RGI_TRY(rgi_operands_together(call, &operand[0], &operand[1]));
  dot_call j = {loops[a->type], {0, 0, 0}};
  RGI_TRY(rgi_operands_begin(call, 2, operand));
  int error = rgi_box_each(2, operand, dot_box, &j);
  if (!a->one_node || !operand[1].a->one_node)
    RGI_TRY(rgi_group_error_share(a->group, call, error));
  RGI_TRY(rgi_total_all(a, &j.total));
  rgi_total_store(a->type, &j.total, dot);
  return RG_SUCCESS;
}

int rg_array_dot(rg_array a, rg_array b, void *dot) {
  rgi_operand operand[2];
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand[0]));
  RGI_TRY(rgi_operand_make(__func__, b, NULL, NULL, &operand[1]));
  return dot_of(__func__, operand, dot);
}

int rg_array_dot_patch(rg_array a, const int64_t alo[], const int64_t ahi[], rg_array b,
                       const int64_t blo[], const int64_t bhi[], void *dot) {
  rgi_operand operand[2];
  RGI_TRY(rgi_operand_make(__func__, a, alo, ahi, &operand[0]));
  RGI_TRY(rgi_operand_make(__func__, b, blo, bhi, &operand[1]));
  return dot_of(__func__, operand, dot);
}
