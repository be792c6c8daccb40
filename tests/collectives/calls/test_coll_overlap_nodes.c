/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: RG_TIMEOUT=60 MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 2 3 4 7
 * sources: tests/collectives/cases.c tests/collectives/calls/overlap.c
 * Several collectives under way at once, on two pretended nodes. */
#include "tests/collectives/cases.h"
#include "tests/collectives/suites.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", start_groups}, OVERLAP, {"stop", stop_groups}, {NULL, NULL}};
  return rgt_main(argc, argv, "coll_overlap_nodes", tests);
}
