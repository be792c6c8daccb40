/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays that follow their group, on one node or several. */
#ifndef REGROUP_CASES_H
#define REGROUP_CASES_H

extern int rounds;

void test_start(void);
void test_random_groups(void);
void test_merge_and_part(void);
void test_errors(void);
void test_stop(void);

#define REGROUP                                                                                    \
  {"start", test_start}, {"random groups", test_random_groups},                                    \
      {"merge and part", test_merge_and_part}, {"errors", test_errors}, {                          \
    "stop", test_stop                                                                              \
  }

#endif
