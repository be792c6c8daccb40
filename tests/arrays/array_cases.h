/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Creating and freeing arrays, queries, and wrong calls, on one node or several. */
#ifndef ARRAY_CASES_H
#define ARRAY_CASES_H

#include <stddef.h>

void test_begin(void);
void test_first(void);
void test_queries(void);
void test_wrong_calls(void);
void test_opaque_and_empty(void);
void test_owners_and_name(void);
void test_undivided(void);
void test_mismatch(void);
void test_nobody_waits(void);
void test_orders(void);
void test_ghosts(void);
void test_target_is_busy(void);
void test_again_and_again(void);
void test_free_with_requests(void);
void test_finalize(void);

#define ARRAY_CASES                                                                                \
  {"begin", test_begin}, {"first", test_first}, {"queries", test_queries},                         \
      {"wrong calls", test_wrong_calls}, {"opaque and empty", test_opaque_and_empty},              \
      {"owners and name", test_owners_and_name}, {"undivided", test_undivided},                    \
      {"mismatch", test_mismatch}, {"ghosts", test_ghosts},                                        \
      {"freed with requests open", test_free_with_requests}, {                                     \
    "again and again", test_again_and_again                                                        \
  }

#endif
