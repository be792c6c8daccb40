/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_ARRAY_SHARE=64
 * ranks: 2 3 4 7
 * sources: tests/arrays/array_cases.c
 * Arrays over two pretended nodes. */
#include "array_cases.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {ARRAY_CASES, {"finalize", test_finalize}, {NULL, NULL}};
  return rgt_main(argc, argv, "array_nodes", tests);
}
