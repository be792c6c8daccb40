/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * tier: default
 * ranks: 2 3 4 7
 * env: RG_TIMEOUT=60 MPIR_CVAR_NUM_CLIQUES=2
 * time: 120
 * sources: tests/arrays/math_cases.c tests/arrays/math_elements.c
 *
 * sources: tests/arrays/math_reductions.c tests/arrays/math_matrices.c
 * sources: tests/arrays/math_scans.c
 *
 * The same as test_math.c on two pretended nodes. */
#include "math_cases.h"
#include "math_suites.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", math_start}, ELEMENTS,    REDUCTIONS, MATRICES, SCANS,
                                   {"stop", math_stop},   {NULL, NULL}};
  return rgt_main(argc, argv, "math_nodes", tests);
}
