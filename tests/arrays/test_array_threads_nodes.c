/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 2 3
 * sources: tests/arrays/array_threads.c
 * The same over two pretended nodes. */
#include "array_threads.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"threads", test_threads}, {NULL, NULL}};
  rounds = 20;
  return rgt_main(argc, argv, "array_threads_nodes", tests);
}
