/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * env: RG_TIMEOUT=60
 * ranks: 1 2 3 4 7 8 16
 * sources: tests/collectives/cases.c tests/collectives/moving.c tests/collectives/combining.c
 * Operations that move data, by all algorithms, on one node. */
#include "tests/collectives/cases.h"
#include "tests/collectives/suites.h"

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", start_groups}, MOVING, {"stop", stop_groups}, {NULL, NULL}};
  return rgt_main(argc, argv, "coll_moving", tests);
}
