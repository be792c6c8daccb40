/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3
 * On one node there is no engine. */
#include <armci.h>
#include <check.h>
#include <regroup.h>

#include "engine/engine.h"
#include "engine/heap.h"

static void test_nothing(void) {
  for (int i = 0; i < 2; i++) {
    RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
    RGT_INT(rgi_heap_is_open(), 0);
    RGT_INT(ARMCI_Initialized(), 0);
    RGT_PTR_NULL(rgi_heap_at(0, 0));
    rgi_engine_progress();
    RGT_OK(rgi_engine_fence(-1));
    RGT_OK(rg_finalize());
  }
}

/* The program's own windows are not touched. */
static void test_window(void) {
  MPI_Win window;
  double *base = NULL;
  RGT_INT(MPI_Win_allocate(1024, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window), MPI_SUCCESS);
  RGT_PTR_NOT_NULL(base);
  base[127] = rgt_rank;
  RGT_INT(MPI_Win_free(&window), MPI_SUCCESS);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"nothing", test_nothing}, {"window", test_window}, {NULL, NULL}};
  return rgt_main(argc, argv, "engine_one", tests);
}
