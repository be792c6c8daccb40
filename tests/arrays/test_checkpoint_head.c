/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Heads of checkpoints whose numbers make no sense although the checksum is right.
 *
 * ranks: 1 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "checkpoint/head.h"

enum { FIXED = 4 + 4 * RG_ARRAY_MAX_DIMS, SHAPE = 4, GRID = 4 + RG_ARRAY_MAX_DIMS };

/* A head of one array of 10 elements in `grid` blocks, which says that it has so many arrays and
 * words; `room` of the words are there. */
static int work_out(int64_t arrays, uint64_t words, int64_t grid, size_t room) {
  rgi_head_fixed f = {.arrays = arrays, .words = words, .members = 4};
  int64_t one[FIXED + 1] = {1, RG_TYPE_INT64, 8, RG_LAYOUT_IRREGULAR};
  rgi_head h = {.memory = calloc(1, sizeof f + room * sizeof *one)};
  one[SHAPE] = 10;
  one[GRID] = grid;
  memcpy(h.memory, &f, sizeof f);
  memcpy(h.memory + sizeof f, one, room * sizeof *one);
  int error = rgi_head_work_out(&h);
  rgi_head_clear(&h);
  return error;
}

static void test_words(void) {
  RGT_OK(work_out(1, FIXED + 1, 1, FIXED + 1));
  RGT_FAILS(work_out(1, FIXED + 1, 2, FIXED + 1), RG_ERR_FILE);
  RGT_FAILS(work_out(1, FIXED + 1, 1 << 30, FIXED + 1), RG_ERR_FILE);
  RGT_FAILS(work_out(1, FIXED + 1, -5, FIXED + 1), RG_ERR_FILE);
  RGT_FAILS(work_out(1, FIXED, 1, FIXED), RG_ERR_FILE);
  RGT_FAILS(work_out(2, FIXED + 1, 1, FIXED + 1), RG_ERR_FILE);
  RGT_FAILS(work_out(INT64_MAX, FIXED + 1, 1, FIXED + 1), RG_ERR_FILE);
  RGT_FAILS(work_out(1, 0, 1, 0), RG_ERR_FILE);
  RGT_OK(work_out(0, 0, 1, 0));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"words", test_words}, {NULL, NULL}};
  return rgt_main(argc, argv, "checkpoint_head", tests);
}
