/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Numbering the elements of a patch in C order. */
#include <regroup/array_math.h>
#include <string.h>

#include "base/error.h"
#include "math/own.h"
#include "math/typed_loops.h"

/* n elements, whose numbers in the patch are first, first + 1, ... */
typedef void number_loop(int64_t n, char *at, int64_t first, const void *start, const void *step);
#define LOOP(TYPE, name, type, work)                                                               \
  static void number_##name(int64_t n, char *at, int64_t first, const void *start,                 \
                            const void *step) {                                                    \
    work *x = (work *)(void *)at, from, by;                                                        \
    memcpy(&from, start, sizeof from);                                                             \
    memcpy(&by, step, sizeof by);                                                                  \
    for (int64_t i = 0; i < n; i++)                                                                \
      x[i] = (work)(from + (work)(first + i) * by);                                                \
  }
RGI_EACH_TYPE(LOOP)
#define ENTRY(TYPE, name, type, work) [TYPE] = number_##name,
static number_loop *const loops[RG_TYPE_COUNT] = {RGI_EACH_TYPE(ENTRY)};

static int64_t number_in_patch(const rgi_operand *operand, const int64_t at[]) {
  int64_t number = 0;
  for (int d = 0; d < operand->a->d.dims; d++)
    number = number * (operand->hi[d] - operand->lo[d]) + at[d] - operand->lo[d];
  return number;
}

int rg_array_enumerate(rg_array a, const int64_t lo[], const int64_t hi[], const void *start,
                       const void *step) {
  rgi_operand operand;
  rgi_own_lines lines;
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  RGI_REQUIRE(start);
  RGI_REQUIRE(step);
  RGI_TRY(rgi_operand_arithmetic(__func__, &operand));
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  for (rgi_own_lines_start(&lines, &operand); lines.n; rgi_own_lines_next(&lines))
    loops[a->type](lines.n, lines.ptr, number_in_patch(&operand, lines.at), start, step);
  return rgi_operands_end(__func__, 1, &operand, RG_SUCCESS);
}
