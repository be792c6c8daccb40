/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 2 3 4 7
 * sources: tests/arrays/image.c tests/arrays/onesided_cases.c
 * One-sided operations over two pretended nodes. */
#include <stddef.h>

#include "onesided_cases.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {ONESIDED, {NULL, NULL}};
  cases = 25;
  return rgt_main(argc, argv, "onesided_nodes", tests);
}
