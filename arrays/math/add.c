/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * c = alpha a + beta b, element by element, as loops over the rows of boxes (box.h). */
#include <regroup/array_math.h>
#include <string.h>

#include "base/error.h"
#include "math/box.h"
#include "math/typed_loops.h"

RGI_FAST_LOOPS

typedef struct {
  const void *alpha, *beta;
} factors;

/* c may be a or b, but does not partly overlap one: each element is read before it
 * is written. */
#define LOOP(TYPE, name, type, work)                                                               \
  static void add_##name(void *context, int64_t n, char *const at[]) {                             \
    const factors *f = context;                                                                    \
    work alpha, beta, *z = (work *)(void *)at[0];                                                  \
    const work *x = (const work *)(const void *)at[1], *y = (const work *)(const void *)at[2];     \
    memcpy(&alpha, f->alpha, sizeof alpha);                                                        \
    memcpy(&beta, f->beta, sizeof beta);                                                           \
    RGI_EACH_BY_ITSELF                                                                             \
    for (int64_t i = 0; i < n; i++)                                                                \
      z[i] = (work)(alpha * x[i] + beta * y[i]);                                                   \
  }
RGI_EACH_TYPE(LOOP)

#define ENTRY(TYPE, name, type, work) [TYPE] = add_##name,
static rgi_box_row *const loops[RG_TYPE_COUNT] = {RGI_EACH_TYPE(ENTRY)};

/* patch: c, a, b. */
static int add_patches(const char *call, const void *alpha, const void *beta,
                       const rg_array_patch patch[3]) {
  rgi_operand operand[3];
  if (!alpha || !beta)
    return rgi_error(RG_ERR_ARG, "%s: alpha or beta is NULL", call);
  RGI_TRY(rgi_operands_make(call, 3, patch, operand));
  RGI_TRY(rgi_operand_arithmetic(call, &operand[0]));
  factors f = {alpha, beta};
  RGI_TRY(rgi_operands_begin(call, 3, operand));
  return rgi_operands_end(call, 3, operand,
                          rgi_box_rows(3, operand, loops[operand[0].a->type], &f));
}

int rg_array_add(const void *alpha, rg_array a, const void *beta, rg_array b, rg_array c) {
  const rg_array_patch patch[3] = {{c, NULL, NULL}, {a, NULL, NULL}, {b, NULL, NULL}};
  return add_patches(__func__, alpha, beta, patch);
}

int rg_array_add_patch(const void *alpha, rg_array a, const int64_t alo[], const int64_t ahi[],
                       const void *beta, rg_array b, const int64_t blo[], const int64_t bhi[],
                       rg_array c, const int64_t clo[], const int64_t chi[]) {
  const rg_array_patch patch[3] = {{c, clo, chi}, {a, alo, ahi}, {b, blo, bhi}};
  return add_patches(__func__, alpha, beta, patch);
}
