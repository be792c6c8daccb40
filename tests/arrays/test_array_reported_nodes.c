/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_ARRAY_SHARE=64
 * ranks: 2 3 4 7
 * sources: tests/arrays/reported_cases.c
 * The error of one member of an array as that of all, over two pretended nodes. */
#include "reported_cases.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {REPORTED_CASES, {NULL, NULL}};
  return rgt_main(argc, argv, "array_reported_nodes", tests);
}
