/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * What is free in a heap part, against a map of its lines. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "engine/heap.h"

enum { LINES = 2000, LINE = 64, BLOCKS = 300, STEPS = 20000 };

static char map[LINES]; /* 1: taken */
static struct { uint64_t offset, bytes; } blocks[BLOCKS];
static int n;
static rgi_heap_part share;
static unsigned long long state;

static long draw(long most) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (long)((state >> 33) % (unsigned long long)most);
}

/* The lowest place of so many free lines, or -1. */
static long first_fit(long lines) {
  long run = 0;
  for (long i = 0; i < LINES; i++) {
    run = map[i] ? 0 : run + 1;
    if (run == lines)
      return i - lines + 1;
  }
  return -1;
}

static void take(void) {
  long lines = 1 + draw(draw(10) ? 20 : 200), expected = first_fit(lines);
  uint64_t at = 0, bytes = (uint64_t)lines * LINE;
  RGT_INT(rgi_heap_part_take(&share, bytes, &at), expected >= 0);
  if (expected < 0)
    return;
  RGT_INT(at, expected * LINE);
  memset(map + expected, 1, (size_t)lines);
  blocks[n].offset = at;
  blocks[n++].bytes = bytes;
}

static void give(void) {
  long i = draw(n);
  RGT_TRUE(rgi_heap_part_give(&share, blocks[i].offset, blocks[i].bytes));
  memset(map + blocks[i].offset / LINE, 0, blocks[i].bytes / LINE);
  blocks[i] = blocks[--n];
}

static void test_first_fit(void) {
  state = rgt_seed();
  RGT_OK(rgi_heap_part_open(&share, (uint64_t)LINES * LINE));
  for (int i = 0; i < STEPS; i++) {
    if (n < BLOCKS && (n == 0 || draw(100) < (i / 2000 % 2 ? 30 : 70)))
      take();
    else
      give();
    long free_lines = 0;
    for (long k = 0; i % 100 == 0 && k < LINES; k++)
      free_lines += !map[k];
    RGT_TRUE(i % 100 || share.left == (uint64_t)free_lines * LINE);
  }
  while (n)
    give();
  RGT_INT(rgi_heap_part_longest(&share), LINES * LINE);
  rgi_heap_part_close(&share);
}

static void test_round(void) {
  RGT_INT(rgi_heap_part_round(0), 64);
  RGT_INT(rgi_heap_part_round(1), 64);
  RGT_INT(rgi_heap_part_round(64), 64);
  RGT_INT(rgi_heap_part_round(65), 128);
}

/* 100,000 blocks, given back in another order. */
static void test_many(void) {
  enum { MANY = 100000 };
  uint64_t *at = malloc(MANY * sizeof *at);
  RGT_OK(rgi_heap_part_open(&share, (uint64_t)MANY * 128));
  for (int i = 0; i < MANY; i++)
    RGT_TRUE(rgi_heap_part_take(&share, 128, &at[i]));
  RGT_INT(share.left, 0);
  for (int i = 0; i < MANY; i++)
    RGT_TRUE(rgi_heap_part_give(&share, at[(int64_t)i * 7919 % MANY], 128));
  RGT_INT(rgi_heap_part_longest(&share), (int64_t)MANY * 128);
  rgi_heap_part_close(&share);
  free(at);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"first fit", test_first_fit}, {"round", test_round}, {"many", test_many}, {NULL, NULL}};
  return rgt_main(argc, argv, "engine_heap_part", tests);
}
