/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Tests of all operations with all their algorithms, for programs that differ in
 * what they run on. */
#ifndef SUITES_H
#define SUITES_H

void test_barrier(void);
void test_bcast(void);
void test_gather(void);
void test_gatherv(void);
void test_scatter(void);
void test_scatterv(void);
void test_allgather(void);
void test_allgatherv(void);
void test_alltoall(void);
void test_alltoallv(void);
void test_reduce(void);
void test_allreduce(void);
void test_reduce_scatter(void);
void test_reduce_scatter_block(void);
void test_scan(void);
void test_exscan(void);

void test_many_at_once(void);
void test_blocking_between(void);
void test_message_between(void);
void test_rg_test(void);
void test_threads(void);
void test_fresh(void);
void test_freed_group(void);
void test_freed_comm(void);

#define OVERLAP                                                                                    \
  {"many at once", test_many_at_once}, {"blocking calls between", test_blocking_between},          \
      {"a message between", test_message_between}, {"rg_test", test_rg_test},                      \
      {"threads", test_threads}, {"fresh groups", test_fresh},                                     \
      {"a freed group", test_freed_group}, {                                                       \
    "a freed communicator", test_freed_comm                                                        \
  }

#define MOVING                                                                                     \
  {"barrier", test_barrier}, {"bcast", test_bcast}, {"gather", test_gather},                       \
      {"gatherv", test_gatherv}, {"scatter", test_scatter}, {"scatterv", test_scatterv},           \
      {"allgather", test_allgather}, {"allgatherv", test_allgatherv}, {"alltoall", test_alltoall}, \
  {                                                                                                \
    "alltoallv", test_alltoallv                                                                    \
  }

#define COMBINING                                                                                  \
  {"reduce", test_reduce}, {"allreduce", test_allreduce}, {"reduce_scatter", test_reduce_scatter}, \
      {"reduce_scatter_block", test_reduce_scatter_block}, {"scan", test_scan}, {                  \
    "exscan", test_exscan                                                                          \
  }

#endif
