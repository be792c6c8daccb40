/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7
 * env: RG_TIMEOUT=60
 * time: 120
 * sources: tests/arrays/math_cases.c tests/arrays/math_elements.c
 *
 * sources: tests/arrays/math_reductions.c tests/arrays/math_matrices.c
 * sources: tests/arrays/math_scans.c
 *
 * Whole arrays and patches against a plain reference. */
#include "math_cases.h"
#include "math_suites.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", math_start}, ELEMENTS,    REDUCTIONS, MATRICES, SCANS,
                                   {"stop", math_stop},   {NULL, NULL}};
  return rgt_main(argc, argv, "math", tests);
}
