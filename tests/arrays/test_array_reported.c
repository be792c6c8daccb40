/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * sources: tests/arrays/reported_cases.c
 * The error of one member of an array as that of all, on one node. */
#include "reported_cases.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {REPORTED_CASES, {NULL, NULL}};
  return rgt_main(argc, argv, "array_reported", tests);
}
