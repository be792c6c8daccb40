/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 2 3 4 7
 * time: 120
 * sources: tests/arrays/regroup_cases.c
 * Arrays that follow their group, over two pretended nodes. */
#include <stddef.h>

#include "regroup_cases.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {REGROUP, {NULL, NULL}};
  rounds = 15;
  return rgt_main(argc, argv, "regroup_array_nodes", tests);
}
