/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The checksum is a sum, modulo 2^64, over all elements, of a hash of the element's number and
 * bytes: so the members add up their parts independently, and the order does not matter. */
#include <regroup/array_math.h>
#include <regroup/collectives.h>
#include <string.h>

#include "base/error.h"
#include "distribution/distribution_owner.h"
#include "math/own.h"
#include "math/typed_loops.h"

RGI_FAST_LOOPS

/* Every bit of x changes about half of the bits of the result (the finish of
 * SplitMix64; Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t mix_word(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static inline uint64_t start_sum(uint64_t number) {
  return mix_word(number + 0x9e3779b97f4a7c15u);
}

static uint64_t of_element(uint64_t number, const char *at, size_t bytes) {
  uint64_t sum = start_sum(number), word;
  for (size_t i = 0; i < bytes; i += sizeof word) {
    word = 0;
    memcpy(&word, at + i, bytes - i < sizeof word ? bytes - i : sizeof word);
    sum = mix_word(sum ^ word);
  }
  return sum;
}

/* Loops for the usual sizes, which are constants in them. */
#define LINE(name, bytes)                                                                          \
  static uint64_t name(uint64_t number, int64_t n, const char *at) {                               \
    uint64_t sum = 0;                                                                              \
    for (int64_t i = 0; i < n; i++)                                                                \
      sum += of_element(number + (uint64_t)i, at + (bytes)*i, bytes);                              \
    return sum;                                                                                    \
  }
LINE(line_4, 4)
LINE(line_8, 8)
LINE(line_16, 16)

static uint64_t line_any(uint64_t number, int64_t n, const char *at, size_t bytes) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += of_element(number + (uint64_t)i, at + (int64_t)bytes * i, bytes);
  return sum;
}

/* A hash of the array's type and shape. */
static uint64_t of_form(const struct rg_array_s *a) {
  uint64_t sum = mix_word(start_sum((uint64_t)a->type) ^ a->element);
  for (int d = 0; d < a->d.dims; d++)
    sum = mix_word(sum ^ start_sum((uint64_t)a->d.shape[d]));
  return sum;
}

int rg_array_checksum(rg_array a, uint64_t *checksum) {
  rgi_operand operand;
  rgi_own_lines lines;
  uint64_t sum = 0;
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand));
  RGI_REQUIRE(checksum);
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  for (rgi_own_lines_start(&lines, &operand); lines.n; rgi_own_lines_next(&lines)) {
    uint64_t number = (uint64_t)rgi_distribution_linear(&a->d, lines.at);
    sum += a->element == 8    ? line_8(number, lines.n, lines.ptr)
           : a->element == 4  ? line_4(number, lines.n, lines.ptr)
           : a->element == 16 ? line_16(number, lines.n, lines.ptr)
                              : line_any(number, lines.n, lines.ptr, a->element);
  }
  RGI_TRY(rg_allreduce(a->group, MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM));
  *checksum = sum + of_form(a);
  return RG_SUCCESS;
}
