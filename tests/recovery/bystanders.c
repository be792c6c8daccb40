/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_survivors.py starts: a death concerns only groups with the dead. The first
 * half of the ranks works on, forms groups, merges and splits, and sees no error, while
 * the second half loses its last member and shrinks. Then both halves merge. */
#include "ranks.h"

#define ROUNDS 3000

static int half;

/* A little of everything, on the first half. */
static void work_on(rg_group world, rg_group mine) {
  for (int i = 0; i < ROUNDS; i++) {
    rg_group part, g;
    int sum = 1;
    must(!rg_allreduce(mine, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM), "rg_allreduce");
    must(sum == half, "the sum");
    must(!rg_group_split(mine, my_rank % 2, my_rank, &part), "rg_group_split");
    must(!rg_barrier(part), "rg_barrier");
    if (half > 1) {
      must(!rg_group_merge(part, world, my_rank % 2 ? 0 : 1, my_rank % 2, 5, &g), "rg_group_merge");
      must(!rg_barrier(g), "rg_barrier of the merged group");
      must(!rg_group_free(&g), "rg_group_free");
    }
    must(!rg_group_free(&part), "rg_group_free");
  }
}

/* The second half meets until its last member is gone. */
static void lose_one(rg_group *mine) {
  int error = RG_SUCCESS, n;
  for (int i = 0; !error; i++) {
    if (my_rank == world_size - 1 && i == 100)
      raise(SIGKILL);
    error = rg_barrier(*mine);
  }
  must(error == RG_ERR_PROC_FAILED, "rg_barrier");
  must(!rg_group_failed(*mine, 0, NULL, &n) && n == 1, "rg_group_failed");
  drop_dead(mine);
  must(!rg_barrier(*mine), "rg_barrier of the survivors");
}

int main(int argc, char **argv) {
  rg_group world = enter_world(&argc, &argv), mine, both;
  /* A death before rg_init has returned everywhere would end the job. The last one to leave the
   * barrier may find the death there. */
  int met = rg_barrier(world);
  must(!met || met == RG_ERR_PROC_FAILED, "the first rg_barrier");
  half = world_size / 2;
  int high = my_rank >= half;
  must(
      !rg_group_create_range(world, high ? half : 0, high ? world_size - 1 : half - 1, 1, 1, &mine),
      "rg_group_create_range");
  if (high)
    lose_one(&mine);
  else
    work_on(world, mine);
  must(!rg_group_merge(mine, world, high ? 0 : half, high, 2, &both), "the last merge");
  must(!rg_barrier(both), "the last rg_barrier");
  if (my_rank == 0)
    printf("MERGED %d\n", size_of(both));
  rg_group_free(&both);
  rg_group_free(&mine);
  leave_world(&world);
  return 0;
}
