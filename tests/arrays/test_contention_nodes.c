/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 2 3 4 7
 * sources: tests/arrays/contention.c
 * The same over two pretended nodes. */
#include "contention.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {CONTENTION, {NULL, NULL}};
  rounds = 30;
  return rgt_main(argc, argv, "contention_nodes", tests);
}
