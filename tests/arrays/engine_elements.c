/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Elements, atomics and the order of operations. */
#include "tests/check/check.h"
#include <regroup.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "distribution/type.h"
#include "engine/engine.h"
#include "engine/heap.h"
#include "engine/scalar.h"
#include "tests/arrays/engine_calls.h"
#include "tests/arrays/engine_cases.h"

/* --- elements ------------------------------------------------------------------- */

enum { ELEMENTS = 300 };

void test_elements(void) {
  int target = (rgt_rank + 1) % rgt_size;
  uint64_t offsets[ELEMENTS];
  double values[ELEMENTS], got[ELEMENTS], twice = 2;
  void *at[ELEMENTS], *into[ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++) {
    values[i] = 1000 * rgt_rank + i;
    offsets[i] = blocks[target] + 8 * (uint64_t)((i * 7919) % 5000);
    at[i] = &values[i];
    into[i] = &got[ELEMENTS - 1 - i];
  }
  rgi_transfer_elements put = {.kind = RGI_ACCESS_KIND_PUT,
                               .target = target,
                               .n = ELEMENTS,
                               .offsets = offsets,
                               .origin = at,
                               .element = 8,
                               .type = RG_TYPE_DOUBLE};
  rgi_transfer_elements acc = put, scaled, get = put;
  acc.kind = RGI_ACCESS_KIND_ACC;
  scaled = acc;
  scaled.alpha = &twice;
  get.kind = RGI_ACCESS_KIND_GET;
  get.origin = into;
  RGT_OK(rgi_engine_elements(&put));
  RGT_OK(rgi_engine_elements(&scaled));
  RGT_OK(rgi_engine_elements(&acc));
  RGT_OK(rgi_engine_elements(&get));
  for (int i = 0; i < ELEMENTS; i++)
    RGT_DBL(got[ELEMENTS - 1 - i], 4 * values[i], 0);
  for (int i = 0; i < ELEMENTS; i++) /* each place twice */
    offsets[i] = blocks[target] + 8 * (uint64_t)(i / 2);
  memset(values, 0, sizeof values);
  RGT_OK(rgi_engine_elements(&put));
  for (int i = 0; i < ELEMENTS; i++)
    values[i] = i;
  RGT_OK(rgi_engine_elements(&acc));
  get.origin = at;
  RGT_OK(rgi_engine_elements(&get));
  for (int i = 0; i < ELEMENTS; i++)
    RGT_DBL(values[i], 4 * (i / 2) + 1, 0);
  RGT_OK(rgi_engine_fence(-1));
  barrier();
}

/* --- contention ------------------------------------------------------------------- */

enum { TIMES = 150 };

/* All add to the same places of all ranks, in four ways. */
static void contend(rg_array_type type) {
  size_t size = rgi_type_size(type, 0);
  int64_t before = 0, last = -1;
  memset(mine(), 0, 64);
  barrier();
  for (int i = 0; i < TIMES; i++) {
    int target = (int)draw(rgt_size);
    rgi_strided p = rgi_strided_flat((int64_t)size);
    rgi_scalar one = rgi_scalar_one(type);
    if (i % 16 == 5)
      usleep((useconds_t)draw(300));
    RGT_OK(engine_fetch_add(0, blocks[0], type, 1, &before));
    RGT_TRUE(before > last);
    last = before;
    RGT_OK(engine_acc(0, blocks[0] + 16, &one, &p, type, NULL));
    RGT_OK(engine_fetch_add(0, blocks[0] + 16, type, 1, &before));
    RGT_OK(engine_acc(target, blocks[target] + 32, &one, &p, type, NULL));
    int64_t seen = 0;
    for (int64_t guess = -1; guess != seen;) {
      guess = seen;
      RGT_OK(engine_compare_and_swap(0, blocks[0] + 48, type, guess, guess + 3, &seen));
    }
  }
  RGT_OK(rgi_engine_fence(-1));
  barrier();
  int64_t sum = 0, all, got[4];
  for (int k = 0; k < 4; k++) {
    char *m = mine() + 16 * k;
    got[k] = type == RG_TYPE_INT32 ? *(int32_t *)(void *)m : *(int64_t *)(void *)m;
  }
  sum = got[2];
  MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(all, (int64_t)TIMES * rgt_size);
  RGT_INT(got[0], rgt_rank ? 0 : (int64_t)TIMES * rgt_size);
  RGT_INT(got[1], rgt_rank ? 0 : (int64_t)TIMES * rgt_size * 2);
  RGT_INT(got[3], rgt_rank ? 0 : (int64_t)TIMES * rgt_size * 3);
  barrier();
}

void test_contention(void) {
  contend(RG_TYPE_INT32);
  contend(RG_TYPE_INT64);
}

void test_large_increment(void) {
  int target = (rgt_rank + 1) % rgt_size;
  int64_t before = -1, large = INT64_C(1) << 40;
  memset(mine(), 0, 8);
  barrier();
  RGT_OK(engine_fetch_add(target, blocks[target], RG_TYPE_INT64, large, &before));
  RGT_INT(before, 0);
  RGT_OK(engine_fetch_add(target, blocks[target], RG_TYPE_INT64, -1, &before));
  RGT_INT(before, large);
  RGT_OK(engine_compare_and_swap(target, blocks[target], RG_TYPE_INT64, 3, 4, &before));
  RGT_INT(before, large - 1);
  RGT_OK(engine_compare_and_swap(target, blocks[target], RG_TYPE_INT64, large - 1, -5, &before));
  RGT_INT(before, large - 1);
  barrier();
  RGT_INT(*(int64_t *)(void *)mine(), -5);
  barrier();
}

/* A process's own operations are seen in its order, without a fence: puts of all
 * sizes, accumulates and gets on the same bytes. */
void test_order(void) {
  enum { N = 20000 };
  int target = (rgt_rank + 1) % rgt_size;
  double *buffer = malloc(N * sizeof *buffer), one = 1;
  for (int i = 0; i < 40; i++) {
    int64_t n = i % 2 ? N : 1 + draw(20);
    rgi_strided p = rgi_strided_flat(n * 8), single = rgi_strided_flat(8);
    uint64_t last = blocks[target] + 8 * (uint64_t)(n - 1);
    for (int64_t k = 0; k < n; k++)
      buffer[k] = i + (double)k;
    RGT_OK(engine_put(target, blocks[target], buffer, &p));
    RGT_OK(engine_acc(target, last, &one, &single, RG_TYPE_DOUBLE, NULL));
    RGT_OK(engine_acc(target, last, &one, &single, RG_TYPE_DOUBLE, NULL));
    double got = 0;
    RGT_OK(engine_get(target, last, &got, &single));
    RGT_DBL(got, i + (double)(n - 1) + 2, 0);
    RGT_OK(engine_acc(target, last, &one, &single, RG_TYPE_DOUBLE, NULL));
    RGT_OK(engine_put(target, last, &one, &single));
    RGT_OK(rgi_engine_settle(target, last, 8));
    double *near = rgi_heap_at(target, last);
    RGT_TRUE(!near || *near == 1);
  }
  free(buffer);
  barrier();
}
