/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Setting elements to one value, and whole arrays, ghosts included, to zero. */
#include <regroup/array_math.h>
#include <string.h>

#include "base/error.h"
#include "distribution/distribution_owner.h"
#include "math/box.h"
#include "math/fill.h"
#include "math/typed_loops.h"

RGI_FAST_LOOPS

typedef struct {
  uint64_t half[2];
} fill_16_bytes;

#define FILL(name, type)                                                                           \
  static void name(int64_t n, char *at, const void *value) {                                       \
    type *to = (type *)(void *)at, x;                                                              \
    memcpy(&x, value, sizeof x);                                                                   \
    for (int64_t i = 0; i < n; i++)                                                                \
      to[i] = x;                                                                                   \
  }
FILL(fill_4, uint32_t)
FILL(fill_8, uint64_t)
FILL(fill_16, fill_16_bytes)

static void fill_any(int64_t n, char *at, const void *value, size_t element) {
  for (int64_t i = 0; i < n; i++)
    memcpy(at + i * (int64_t)element, value, element);
}

typedef struct {
  const void *value;
} filling;

static int fill_box(void *context, const rgi_box *box) {
  const void *value = ((const filling *)context)->value;
  rgi_box_rows rows;
  for (rgi_box_rows_start(&rows, box); rows.n; rgi_box_rows_next(&rows)) {
    if (box->element == 8)
      fill_8(rows.n, rows.at[0], value);
    else if (box->element == 16)
      fill_16(rows.n, rows.at[0], value);
    else if (box->element == 4)
      fill_4(rows.n, rows.at[0], value);
    else
      fill_any(rows.n, rows.at[0], value, box->element);
  }
  return RG_SUCCESS;
}

int rgi_fill_own(const rgi_operand *operand, const void *value) {
  filling f = {value};
  return rgi_box_each(1, operand, fill_box, &f);
}

int rg_array_fill(rg_array a, const int64_t lo[], const int64_t hi[], const void *value) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  RGI_REQUIRE(value);
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  return rgi_operands_end(__func__, 1, &operand, rgi_fill_own(&operand, value));
}

int rg_array_zero(rg_array a) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand));
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  int64_t n = rgi_distribution_extent(&a->d, a->me);
  if (n > 0)
    memset(rgi_array_mine(a), 0, (size_t)n * a->element);
  return rgi_operands_end(__func__, 1, &operand, RG_SUCCESS);
}
