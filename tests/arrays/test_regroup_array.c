/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * time: 120
 * sources: tests/arrays/regroup_cases.c
 * Arrays that follow their group, inside a node. */
#include <stddef.h>

#include "regroup_cases.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {REGROUP, {NULL, NULL}};
  return rgt_main(argc, argv, "regroup_array", tests);
}
