/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 2 3 4 7
 * sources: tests/arrays/contention.c
 * Mutexes over two pretended nodes. */
#include "contention.h"
#include "tests/check/check.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},         {"mutexes", test_mutexes},
                                   {"errors", test_mutex_errors}, {"fence", test_mutex_fence},
                                   {"stop", test_stop},           {NULL, NULL}};
  rounds = 40;
  return rgt_main(argc, argv, "mutex_nodes", tests);
}
