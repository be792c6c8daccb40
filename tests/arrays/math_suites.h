/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Tests of whole arrays, on one node or several. */
#ifndef MATH_SUITES_H
#define MATH_SUITES_H

void test_fill(void);
void test_zero(void);
void test_random(void);
void test_scale(void);
void test_add(void);
void test_combine(void);
void test_divide(void);
void test_map(void);
void test_enumerate(void);
void test_scale_along(void);
void test_combine_patches(void);
void test_map_patches(void);
void test_patches_wrong(void);
void test_step_bounds(void);
void test_ghosts(void);
void test_runs(void);
void test_print(void);

void test_sum(void);
void test_sum_wraps(void);
void test_extremes(void);
void test_extremes_nan(void);
void test_norms(void);
void test_norms_range(void);
void test_dot(void);
void test_reproducible(void);
void test_flushed(void);
void test_checksum(void);

void test_copy(void);
void test_copy_patch(void);
void test_copy_groups(void);
void test_transpose(void);
void test_diagonal(void);
void test_symmetrize(void);
void test_multiply(void);
void test_multiply_large(void);
void test_multiply_vector(void);
void test_errors(void);

void test_scan(void);
void test_pack(void);
void test_scans_wrong(void);

#define ELEMENTS                                                                                   \
  {"fill", test_fill}, {"zero", test_zero}, {"random", test_random}, {"scale", test_scale},        \
      {"add", test_add}, {"combine", test_combine}, {"divide", test_divide}, {"map", test_map},    \
      {"enumerate", test_enumerate}, {"scale along", test_scale_along},                            \
      {"combine of patches", test_combine_patches}, {"map of patches", test_map_patches},          \
      {"wrong patches", test_patches_wrong}, {"step bounds", test_step_bounds},                    \
      {"ghosts", test_ghosts}, {"runs", test_runs}, {                                              \
    "print", test_print                                                                            \
  }

#define REDUCTIONS                                                                                 \
  {"sum", test_sum}, {"sum that wraps", test_sum_wraps}, {"min and max", test_extremes},           \
      {"min and max of NaNs", test_extremes_nan}, {"norms", test_norms},                           \
      {"norms of large and small numbers", test_norms_range}, {"dot", test_dot},                   \
      {"reproducible", test_reproducible}, {"denormal numbers flushed", test_flushed}, {           \
    "checksum", test_checksum                                                                      \
  }

#define MATRICES                                                                                   \
  {"copy", test_copy}, {"copy of patches", test_copy_patch},                                       \
      {"copy between groups", test_copy_groups}, {"transpose", test_transpose},                    \
      {"diagonal", test_diagonal}, {"symmetrize", test_symmetrize}, {"multiply", test_multiply},   \
      {"multiply larger ones", test_multiply_large},                                               \
      {"multiply by a vector", test_multiply_vector}, {                                            \
    "errors", test_errors                                                                          \
  }

#define SCANS                                                                                      \
  {"scan", test_scan}, {"pack", test_pack}, {                                                      \
    "wrong scans", test_scans_wrong                                                                \
  }

#endif
