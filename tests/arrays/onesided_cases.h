/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Every one-sided operation against an image, on one node or several. */
#ifndef ONESIDED_CASES_H
#define ONESIDED_CASES_H

void test_start(void);
void test_random(void);
void test_own_order(void);
void test_stop(void);

/* The number of random arrays. */
extern int cases;

#define ONESIDED                                                                                   \
  {"start", test_start}, {"random", test_random}, {"own order", test_own_order}, {                 \
    "stop", test_stop                                                                              \
  }

#endif
