/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Random elements: a function of the seed and of the element's number in the array alone (Philox
 * 4x32, Random123), so that they do not depend on how the array is divided. */
#include <Random123/philox.h>
#include <regroup/array_math.h>
#include <string.h>

#include "base/error.h"
#include "distribution/distribution_owner.h"
#include "math/own.h"
#include "math/typed_loops.h"

RGI_FAST_LOOPS

/* The 128 random bits of an element. */
static philox4x32_ctr_t bits_of(uint64_t seed, uint64_t element) {
  philox4x32_ctr_t counter = {{(uint32_t)element, (uint32_t)(element >> 32), 0, 0}};
  philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
  return philox4x32(counter, key);
}

static uint64_t wide_bits(philox4x32_ctr_t r, int i) {
  return r.v[2 * i] | (uint64_t)r.v[2 * i + 1] << 32;
}

static float unit_float(uint32_t bits) {
  return (float)(bits >> 8) * 0x1p-24F;
}

static double unit_double(uint64_t bits) {
  return (double)(bits >> 11) * 0x1p-53;
}

/* Sets n elements, whose numbers are first, first + 1, ... In LOOP r are the bits of one. */
typedef void random_loop(uint64_t seed, uint64_t first, int64_t n, char *to);
#define LOOP(name, type, parts, ...)                                                               \
  static void name(uint64_t seed, uint64_t first, int64_t n, char *to) {                           \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const philox4x32_ctr_t r = bits_of(seed, first + (uint64_t)i);                               \
      const type x[parts] = {__VA_ARGS__};                                                         \
      memcpy(to + i * (int64_t)sizeof x, x, sizeof x);                                             \
    }                                                                                              \
  }
LOOP(random_int32, uint32_t, 1, r.v[0])
LOOP(random_int64, uint64_t, 1, wide_bits(r, 0))
LOOP(random_float, float, 1, unit_float(r.v[0]))
LOOP(random_double, double, 1, unit_double(wide_bits(r, 0)))
LOOP(random_float_complex, float, 2, unit_float(r.v[0]), unit_float(r.v[1]))
LOOP(random_double_complex, double, 2, unit_double(wide_bits(r, 0)), unit_double(wide_bits(r, 1)))

static random_loop *const loops[RG_TYPE_COUNT] = {[RG_TYPE_INT32] = random_int32,
                                                  [RG_TYPE_INT64] = random_int64,
                                                  [RG_TYPE_FLOAT] = random_float,
                                                  [RG_TYPE_DOUBLE] = random_double,
                                                  [RG_TYPE_FLOAT_COMPLEX] = random_float_complex,
                                                  [RG_TYPE_DOUBLE_COMPLEX] = random_double_complex};

int rg_array_random(rg_array a, uint64_t seed) {
  rgi_operand operand;
  rgi_own_lines lines;
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand));
  RGI_TRY(rgi_operand_arithmetic(__func__, &operand));
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  for (rgi_own_lines_start(&lines, &operand); lines.n; rgi_own_lines_next(&lines))
    loops[a->type](seed, (uint64_t)rgi_distribution_linear(&a->d, lines.at), lines.n, lines.ptr);
  return rgi_operands_end(__func__, 1, &operand, RG_SUCCESS);
}
