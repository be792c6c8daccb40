/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Atomic operations on elements: every type, wrapping around, and several threads at once. */
#include <mpi.h>
#include <pthread.h>
#include <regroup.h>
#include <stdint.h>
#include <string.h>

#include "access/element.h"
#include "tests/check/check.h"

#define THREADS 4
#define TIMES 20000

static void test_bytes(void) {
  RGT_INT((int)rgi_element_bytes(RGI_ELEMENT_INT32), 4);
  RGT_INT((int)rgi_element_bytes(RGI_ELEMENT_INT64), 8);
  RGT_INT((int)rgi_element_bytes(RGI_ELEMENT_FLOAT), 4);
  RGT_INT((int)rgi_element_bytes(RGI_ELEMENT_DOUBLE), 8);
}

/* The third element stays; `from` lies at an odd address. */
#define CHECK_ACCUMULATE(type, element)                                                            \
  do {                                                                                             \
    type to[3] = {1, 2, 3}, more[2] = {10, 20};                                                    \
    char odd[1 + sizeof more];                                                                     \
    memcpy(odd + 1, more, sizeof more);                                                            \
    rgi_element_accumulate(element, to, odd + 1, 2);                                               \
    RGT_DBL((double)to[0], 11, 0);                                                                 \
    RGT_DBL((double)to[1], 22, 0);                                                                 \
    RGT_DBL((double)to[2], 3, 0);                                                                  \
  } while (0)

static void test_accumulate(void) {
  CHECK_ACCUMULATE(int32_t, RGI_ELEMENT_INT32);
  CHECK_ACCUMULATE(int64_t, RGI_ELEMENT_INT64);
  CHECK_ACCUMULATE(float, RGI_ELEMENT_FLOAT);
  CHECK_ACCUMULATE(double, RGI_ELEMENT_DOUBLE);
}

static void test_integers(void) {
  int32_t small[2] = {INT32_MAX, 77};
  int64_t large = INT64_MAX;
  RGT_TRUE(rgi_element_fetch_add(RGI_ELEMENT_INT32, &small[0], 1) == INT32_MAX);
  RGT_TRUE(small[0] == INT32_MIN && small[1] == 77);
  RGT_TRUE(rgi_element_fetch_add(RGI_ELEMENT_INT64, &large, 1) == INT64_MAX);
  RGT_TRUE(large == INT64_MIN);
  RGT_TRUE(rgi_element_compare_swap(RGI_ELEMENT_INT32, &small[1], 76, -5) == 77);
  RGT_INT(small[1], 77);
  RGT_TRUE(rgi_element_compare_swap(RGI_ELEMENT_INT32, &small[1], 77, -5) == 77);
  RGT_INT(small[1], -5);
  RGT_TRUE(rgi_element_compare_swap(RGI_ELEMENT_INT64, &large, INT64_MIN, 3) == INT64_MIN);
  RGT_TRUE(rgi_element_compare_swap(RGI_ELEMENT_INT64, &large, 4, 5) == 3 && large == 3);
}

static struct {
  int64_t integer, swapped;
  double real;
} shared;

static void *add_often(void *unused) {
  double one = 1;
  for (int i = 0; i < TIMES; i++) {
    rgi_element_fetch_add(RGI_ELEMENT_INT64, &shared.integer, 1);
    rgi_element_accumulate(RGI_ELEMENT_DOUBLE, &shared.real, &one, 1);
    for (int64_t seen = 0, was;; seen = was)
      if ((was = rgi_element_compare_swap(RGI_ELEMENT_INT64, &shared.swapped, seen, seen + 1)) ==
          seen)
        break;
  }
  return unused;
}

static void test_threads(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, add_often, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  RGT_TRUE(shared.integer == THREADS * TIMES);
  RGT_TRUE(shared.swapped == THREADS * TIMES);
  RGT_DBL(shared.real, THREADS * TIMES, 0);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"bytes", test_bytes},
                                   {"accumulate", test_accumulate},
                                   {"integers", test_integers},
                                   {"threads", test_threads},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "element", tests);
}
