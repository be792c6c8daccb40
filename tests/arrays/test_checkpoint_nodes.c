/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_TIMEOUT=60
 * ranks: 2 3 4 7
 * sources: tests/arrays/checkpoint_cases.c tests/arrays/file_cases.c tests/arrays/draw_spec.c
 * Checkpoints of arrays that span two pretended nodes. */
#include <stddef.h>

#include "checkpoint_cases.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {CHECKPOINTS, {NULL, NULL}};
  return rgt_main(argc, argv, "checkpoint_nodes", tests);
}
