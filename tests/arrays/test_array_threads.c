/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3
 * sources: tests/arrays/array_threads.c
 * Several threads on the same arrays. */
#include "array_threads.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"threads", test_threads}, {NULL, NULL}};
  rounds = 500;
  return rgt_main(argc, argv, "array_threads", tests);
}
