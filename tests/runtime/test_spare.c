/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * wrap: malloc
 * Memory that each process has besides the system's: blocks of all sizes, freed in any order, do
 * not overlap, and afterwards all of it is one block again. */
#include <stdlib.h>
#include <string.h>

#include "base/spare.h"
#include "check.h"

enum { BLOCKS = 100, STEPS = 20000, WHOLE = (1 << 20) - 64 };

static int fails;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) {
  return fails ? NULL : __real_malloc(bytes);
}

static int holds(const unsigned char *block, size_t bytes, int byte) {
  for (size_t i = 0; i < bytes; i++)
    if (block[i] != byte)
      return 0;
  return 1;
}

static void test_blocks(void) {
  static struct {
    unsigned char *at;
    size_t bytes;
  } block[BLOCKS];
  int wrong = 0, none = 0;
  srandom((unsigned)rgt_seed());
  fails = 1;
  for (int step = 0; step < STEPS; step++) {
    int i = (int)(random() % BLOCKS), byte = i + 1;
    if (block[i].at) {
      wrong += !holds(block[i].at, block[i].bytes, byte);
      rgi_spare_free(block[i].at);
      block[i].at = NULL;
      continue;
    }
    block[i].bytes = (size_t)(random() % (random() % 4 ? 500 : 50000));
    block[i].at = rgi_spare_alloc(block[i].bytes);
    none += !block[i].at;
    if (block[i].at)
      memset(block[i].at, byte, block[i].bytes);
  }
  for (int i = 0; i < BLOCKS; i++)
    rgi_spare_free(block[i].at);
  RGT_INT(wrong, 0);
  RGT_TRUE(none < STEPS / 10);
  void *all = rgi_spare_alloc(WHOLE);
  RGT_PTR_NOT_NULL(all);
  RGT_PTR_NULL(rgi_spare_alloc(1));
  rgi_spare_free(all);
  fails = 0;
}

static void test_zeroed(void) {
  fails = 1;
  memset(rgi_spare_alloc(100), 1, 100);
  unsigned char *block = rgi_spare_alloc_zeroed(10, 10);
  RGT_TRUE(block && holds(block, 100, 0));
  RGT_TRUE(rgi_spare_shrink(block, 10) == block);
  RGT_PTR_NULL(rgi_spare_alloc_zeroed((size_t)1 << 60, 1 << 10));
  rgi_spare_free(block);
  fails = 0;
  rgi_spare_free(rgi_spare_shrink(rgi_spare_alloc(100), 10));
  rgi_spare_free(NULL);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"blocks", test_blocks}, {"zeroed", test_zeroed}, {NULL, NULL}};
  return rgt_main(argc, argv, "spare", tests);
}
