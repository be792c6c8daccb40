/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * tier: default
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_SURVIVE=1 UCX_TLS=tcp,self RG_NODE_TIMEOUT=1
 * ranks: 2
 * Many answers from another node wait for a process that computes, or is stopped, for longer than a
 * node may be silent: they are there afterwards. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tests/check/check.h"

#define ELEMENTS ((int64_t)4 << 20) /* for each rank: more than connections hold */
#define SECONDS 5.0

static void test_unread(void) {
  rg_group world;
  rg_array a;
  rg_request r;
  const int64_t all = rgt_size * ELEMENTS, lo = (1 - rgt_rank) * ELEMENTS, hi = lo + ELEMENTS;
  double *got = malloc((size_t)ELEMENTS * sizeof *got), value = 3;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_array_create_simple(world, RG_TYPE_DOUBLE, 1, &all, &a));
  RGT_OK(rg_array_fill(a, NULL, NULL, &value));
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_iget(a, &lo, &hi, got, NULL, &r));
  rgi_clock_sleep(SECONDS);
  RGT_OK(rg_wait(&r, NULL));
  RGT_DBL(got[0] + got[ELEMENTS - 1], 2 * value, 0);
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
  free(got);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"unread", test_unread}, {NULL, NULL}};
  return rgt_main(argc, argv, "unread", tests);
}
