/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7
 * sources: tests/arrays/image.c tests/arrays/onesided_cases.c
 * One-sided operations on one node. */
#include "tests/check/check.h"
#include <stddef.h>

#include "onesided_cases.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {ONESIDED, {NULL, NULL}};
  cases = 150;
  return rgt_main(argc, argv, "onesided", tests);
}
