/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7
 * sources: tests/arrays/array_cases.c
 * Arrays on one node. */
#include "array_cases.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {ARRAY_CASES,
                                   {"nobody waits", test_nobody_waits},
                                   {"orders", test_orders},
                                   {"target is busy", test_target_is_busy},
                                   {"finalize", test_finalize},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "array", tests);
}
