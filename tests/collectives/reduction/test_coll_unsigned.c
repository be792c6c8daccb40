/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 7
 * Minimum and maximum of unsigned integers, also above the greatest signed one. */
#include <mpi.h>
#include <regroup.h>
#include <stdint.h>
#include <string.h>

#include "tests/check/check.h"

static rg_group g;

typedef struct {
  MPI_Datatype type;
  size_t size;
} unsigned_case;

/* The low bytes of x, and back. */
static void store(void *at, uint64_t x, size_t size) {
  uint8_t byte = (uint8_t)x;
  uint16_t half = (uint16_t)x;
  uint32_t word = (uint32_t)x;
  memcpy(at,
         size == 1   ? (void *)&byte
         : size == 2 ? (void *)&half
         : size == 4 ? (void *)&word
                     : &x,
         size);
}

static uint64_t load(const void *at, size_t size) {
  uint8_t byte = 0;
  uint16_t half = 0;
  uint32_t word = 0;
  uint64_t x = 0;
  memcpy(&byte, at, 1);
  memcpy(&half, at, size > 1 ? 2 : 0);
  memcpy(&word, at, size > 2 ? 4 : 0);
  memcpy(&x, at, size > 4 ? 8 : 0);
  return size == 1 ? byte : size == 2 ? half : size == 4 ? word : x;
}

enum { N = 5 };

/* Element i of a rank: the top bit is set for some, not for others. */
static uint64_t value(int rank, int i, size_t size) {
  uint64_t top = UINT64_C(1) << (8 * size - 1);
  return (uint64_t)(3 * rank + i) % 50 + ((rank + i) % 2 ? top : 0);
}

static uint64_t best(int ranks, int i, size_t size, int least) {
  uint64_t b = value(0, i, size);
  for (int r = 1; r < ranks; r++) {
    uint64_t x = value(r, i, size);
    b = least == (x < b) ? x : b;
  }
  return b;
}

static void check(const unsigned_case *c, int least) {
  char mine[8 * N], all[8 * N], before[8 * N];
  MPI_Op op = least ? MPI_MIN : MPI_MAX;
  for (int i = 0; i < N; i++)
    store(mine + (size_t)i * c->size, value(rgt_rank, i, c->size), c->size);
  RGT_OK(rg_allreduce(g, mine, all, N, c->type, op));
  RGT_OK(rg_scan(g, mine, before, N, c->type, op));
  for (int i = 0; i < N; i++) {
    RGT_TRUE(load(all + (size_t)i * c->size, c->size) == best(rgt_size, i, c->size, least));
    RGT_TRUE(load(before + (size_t)i * c->size, c->size) == best(rgt_rank + 1, i, c->size, least));
  }
}

static void test_extremes(void) {
  const unsigned_case cases[] = {{MPI_UINT8_T, 1},
                                 {MPI_UINT16_T, 2},
                                 {MPI_UINT32_T, 4},
                                 {MPI_UINT64_T, 8},
                                 {MPI_UNSIGNED_CHAR, sizeof(unsigned char)},
                                 {MPI_UNSIGNED_SHORT, sizeof(unsigned short)},
                                 {MPI_UNSIGNED, sizeof(unsigned)},
                                 {MPI_UNSIGNED_LONG, sizeof(unsigned long)},
                                 {MPI_UNSIGNED_LONG_LONG, sizeof(unsigned long long)}};
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&g));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check(&cases[i], 0);
    check(&cases[i], 1);
  }
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"extremes", test_extremes}, {NULL, NULL}};
  return rgt_main(argc, argv, "coll_unsigned", tests);
}
