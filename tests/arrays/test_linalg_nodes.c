/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * tier: default
 * ranks: 2 3 4 7
 * env: RG_TIMEOUT=60 MPIR_CVAR_NUM_CLIQUES=2
 * time: 120
 * sources: tests/arrays/linalg_cases.c tests/arrays/math_cases.c
 *
 * Linear algebra on arrays of two pretended nodes. test_scalapack.py runs the same with ScaLAPACK.
 */
#include "linalg_cases.h"

#include <stddef.h>

#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {LINALG_CASES, {NULL, NULL}};
  return rgt_main(argc, argv, "linalg_nodes", tests);
}
