/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The first program of docs/guide.md: two levels of groups, each formed by its
 * members alone. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <unistd.h>

static void check(int error) {
  if (error) {
    fprintf(stderr, "%s: %s\n", rg_error_string(error), rg_error_detail());
    sleep(1); /* so that mpiexec has read the line when it ends the job */
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* The members of g add up their ranks in the world; returns whether that is right. */
static int add_ranks(rg_group g, int rank, int first, int last) {
  MPI_Comm comm;
  int sum;
  check(rg_group_comm(g, &comm));
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (rank == first)
    printf("ranks %d to %d: the sum is %d\n", first, last, sum);
  return sum == (first + last) * (last - first + 1) / 2;
}

int main(int argc, char **argv) {
  rg_group world, team, both;
  int rank, size;
  MPI_Init(&argc, &argv);
  check(rg_init(MPI_COMM_WORLD, NULL));
  check(rg_group_world(&world));
  check(rg_group_rank(world, &rank));
  check(rg_group_size(world, &size));

  /* Level one: teams of two neighbours. No team waits for another. */
  int first = rank - rank % 2, last = first + 1 < size ? first + 1 : first;
  check(rg_group_create_range(world, first, last, 1, 0 /* tag */, &team));
  int right = add_ranks(team, rank, first, last);

  /* Level two: every other team merges with the one on its right, if there is one. */
  int high = first % 4 == 2, other = high ? first - 2 : first + 2;
  if (other < size) {
    check(rg_group_merge(team, world, other, high, 1 /* tag */, &both));
    first = high ? other : first;
    last = first + 3 < size ? first + 3 : size - 1;
    right = add_ranks(both, rank, first, last) && right;
    check(rg_group_free(&both));
  }

  check(rg_group_free(&team));
  check(rg_group_free(&world));
  check(rg_finalize());
  MPI_Finalize();
  return right ? 0 : 1;
}
