/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The first and the last test of those that need a group of all, and one of each rank alone. */
#ifndef GROUPS_H
#define GROUPS_H

#include <regroup/group.h>
#include <regroup/runtime.h>

#include "check.h"

static rg_group world, self;

static void test_begin(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_group_create(world, 1, &rgt_rank, 1, &self));
}

static void test_end(void) {
  RGT_OK(rg_group_free(&self));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

#endif
