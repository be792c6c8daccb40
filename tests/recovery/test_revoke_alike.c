/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A revocation ends the waits of its group, and concerns no other group of the same members.
 *
 * env: RGT_THREADS=single
 * ranks: 1 2 3 4 7 */
#include <regroup.h>
#include <unistd.h>

#include "check.h"

static rg_group world;

static void start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
}

/* One member revokes, while the others wait for it in that group or in another one. */
static void test_alike(void) {
  rg_group revoked, alike, next;
  int sum = rgt_rank;
  RGT_OK(rg_group_dup(world, &revoked));
  RGT_OK(rg_group_dup(world, &alike));
  RGT_OK(rg_barrier(revoked));
  RGT_OK(rg_barrier(alike));
  if (rgt_rank == 0) {
    usleep(50000);
    RGT_OK(rg_group_revoke(revoked));
  } else if (rgt_rank % 2) {
    RGT_FAILS(rg_barrier(revoked), RG_ERR_REVOKED);
  }
  RGT_OK(rg_barrier(alike));
  if (rgt_size > 1)
    RGT_FAILS(rg_barrier(revoked), RG_ERR_REVOKED);
  RGT_OK(rg_allreduce(alike, &rgt_rank, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size * (rgt_size - 1) / 2);
  sum = rgt_rank;
  RGT_OK(rg_group_shrink(revoked, &next));
  RGT_OK(rg_allreduce(next, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size * (rgt_size - 1) / 2);
  RGT_OK(rg_group_free(&next));
  RGT_OK(rg_group_free(&alike));
  RGT_OK(rg_group_free(&revoked));
}

static void end(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", start}, {"a group of the same members", test_alike}, {"end", end}, {NULL, NULL}};
  return rgt_main(argc, argv, "revoke_alike", tests);
}
