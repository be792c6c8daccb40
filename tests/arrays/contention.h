/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * All members at once on the same elements, on one node or several. */
#ifndef CONTENTION_H
#define CONTENTION_H

#include <stddef.h>

void test_start(void);
void test_accumulate(void);
void test_elements(void);
void test_counter(void);
void test_mixed(void);
void test_swap(void);
void test_mutexes(void);
void test_mutex_meanwhile(void);
void test_mutex_errors(void);
void test_mutex_fence(void);
void test_stop(void);

/* Rounds of each member. */
extern int rounds;

#define CONTENTION                                                                                 \
  {"start", test_start}, {"accumulate", test_accumulate}, {"elements", test_elements},             \
      {"counter", test_counter}, {"mixed", test_mixed}, {"swap", test_swap}, {                     \
    "stop", test_stop                                                                              \
  }

#define MUTEXES                                                                                    \
  {"start", test_start}, {"mutexes", test_mutexes}, {"meanwhile", test_mutex_meanwhile},           \
      {"errors", test_mutex_errors}, {                                                             \
    "stop", test_stop                                                                              \
  }

#endif
