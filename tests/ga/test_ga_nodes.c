/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4 7
 * env: RG_TIMEOUT=60 MPIR_CVAR_NUM_CLIQUES=2
 * sources: tests/ga/ga_cases.c tests/ga/ga_cases_math.c
 * Global Arrays' interface in C, on two nodes. */
#include <stddef.h>

#include "ga_cases.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {GA_CASES, {NULL, NULL}};
  return rgt_main(argc, argv, "ga_nodes", tests);
}
