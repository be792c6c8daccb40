/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Tests of Global Arrays' interface in C, on one node and on several. */
#ifndef RGT_GA_CASES_H
#define RGT_GA_CASES_H

/* Global Arrays' strings are not const. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wincompatible-pointer-types-discards-qualifiers"
#else
#pragma GCC diagnostic ignored "-Wdiscarded-qualifiers"
#endif

void test_start(void);
void test_patches(void);
void test_types(void);
void test_elements(void);
void test_nonblocking(void);
void test_queries(void);
void test_irregular(void);
void test_tiles(void);
void test_restricted(void);
void test_ghosts(void);
void test_direct(void);
void test_whole(void);
void test_combine(void);
void test_scans(void);
void test_numbers(void);
void test_matrices(void);
void test_transposed(void);
void test_solvers(void);
void test_groups(void);
void test_copy_groups(void);
void test_reductions(void);
void test_locks(void);
void test_memory(void);
void test_again(void);

#define GA_CASES                                                                                   \
  {"start", test_start}, {"patches", test_patches}, {"types", test_types},                         \
      {"elements", test_elements}, {"nonblocking", test_nonblocking}, {"queries", test_queries},   \
      {"irregular", test_irregular}, {"tiles", test_tiles}, {"restricted", test_restricted},       \
      {"ghosts", test_ghosts}, {"direct", test_direct}, {"whole", test_whole},                     \
      {"combine", test_combine}, {"scans", test_scans}, {"numbers", test_numbers},                 \
      {"matrices", test_matrices}, {"transposed", test_transposed}, {"solvers", test_solvers},     \
      {"groups", test_groups}, {"copy_groups", test_copy_groups}, {"reductions", test_reductions}, \
      {"locks", test_locks}, {"memory", test_memory}, {                                            \
    "again", test_again                                                                            \
  }

#endif
