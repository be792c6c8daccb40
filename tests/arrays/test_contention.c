/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7
 * sources: tests/arrays/contention.c
 * Concurrent changes of the same elements lose nothing. */
#include "contention.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {CONTENTION, {NULL, NULL}};
  rounds = 400;
  return rgt_main(argc, argv, "contention", tests);
}
