/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * sources: tests/arrays/engine_cases.c tests/arrays/engine_patches.c tests/arrays/engine_elements.c
 * The one-sided engine between two pretended nodes. test_engine_nodes.py runs the
 * same over TCP. */
#include <check.h>
#include <stddef.h>

#include "engine_cases.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", start},
                                   {"at", test_at},
                                   {"patches", test_patches},
                                   {"cut", test_cut},
                                   {"flood", test_flood},
                                   {"nothing", test_nothing},
                                   {"elements", test_elements},
                                   {"contention", test_contention},
                                   {"large increment", test_large_increment},
                                   {"order", test_order},
                                   {"full", test_full},
                                   {"exhausted", test_exhausted},
                                   {"again", test_again},
                                   {"order again", test_order},
                                   {"stop", stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "engine", tests);
}
