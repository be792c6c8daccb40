/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The first and the last test of a file: the library runs in between, and `world` is the group of
 * all ranks. */
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include <mpi.h>
#include <regroup.h>

#include "check.h"

static rg_group world;

static inline void test_begin(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
}

static inline void test_end(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

#endif
