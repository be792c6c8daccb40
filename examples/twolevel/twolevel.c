/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Two levels of parallel work, with arrays that follow their groups: each team fills
 * a table of its own, then teams merge pair by pair, and with them their tables,
 * which are added up. At the end all ranks are one team and hold the total.
 *
 * Team t's table has t + 1 at (0, 0) and grows by 1 from element to element; so what
 * the total must be is known. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>

#include "../common/check.h"

#define ROWS 60
#define COLUMNS 50
#define TEAM 2 /* ranks in a team at first */

/* Each member writes its own block where it lies. */
static void fill(rg_array table, int team, int rank) {
  int64_t lo[2], hi[2], ld[1];
  double *block;
  check(rg_array_distribution(table, rank, lo, hi));
  if (lo[0] < hi[0] && lo[1] < hi[1]) {
    check(rg_array_access(table, lo, hi, RG_ACCESS_WRITE, &block, ld));
    for (int64_t i = lo[0]; i < hi[0]; i++)
      for (int64_t j = lo[1]; j < hi[1]; j++)
        block[(i - lo[0]) * ld[0] + j - lo[1]] = (double)(team + 1 + i * COLUMNS + j);
    check(rg_array_release(table, lo, hi));
  }
  check(rg_array_sync(table));
}

/* The team becomes one with its neighbour. Its own table follows it; the other team's
 * follows too, and is added to the left one's. */
static void join(rg_group world, rg_group *team, rg_array *table, int other, int high) {
  rg_group both;
  rg_array left = high ? NULL : *table, right = high ? *table : NULL;
  double one = 1;
  check(rg_group_merge(*team, world, other, high, 0, &both));
  check(rg_array_regroup(both, both, NULL, &left));
  check(rg_array_regroup(both, both, NULL, &right));
  check(rg_array_add(&one, left, &one, right, left));
  check(rg_array_free(&right));
  check(rg_group_free(team));
  *team = both;
  *table = left;
}

static int is_right(rg_array table, int teams) {
  int64_t nowhere[2] = {0, 0}, at[2] = {ROWS - 1, COLUMNS - 1};
  double first, last, expected = teams * (teams + 1) / 2.0;
  check(rg_array_gather(table, 1, nowhere, &first));
  check(rg_array_gather(table, 1, at, &last));
  return first == expected && last == expected + (double)teams * (ROWS * COLUMNS - 1);
}

int main(int argc, char **argv) {
  int64_t shape[2] = {ROWS, COLUMNS};
  rg_group world, team;
  rg_array table;
  int rank, size;
  MPI_Init(&argc, &argv);
  check(rg_init(MPI_COMM_WORLD, NULL));
  check(rg_group_world(&world));
  check(rg_group_rank(world, &rank));
  check(rg_group_size(world, &size));

  int first = rank - rank % TEAM, last = first + TEAM < size ? first + TEAM - 1 : size - 1;
  int teams = (size + TEAM - 1) / TEAM;
  check(rg_group_create_range(world, first, last, 1, 1, &team));
  check(rg_array_create_simple(team, RG_TYPE_DOUBLE, 2, shape, &table));
  fill(table, first / TEAM, rank - first);

  /* Teams of 2, then 4, 8, ... ranks; one without a neighbour waits for its turn. */
  for (int width = TEAM; width < size; width *= 2) {
    int start = rank - rank % width, high = start / width % 2;
    int other = high ? start - width : start + width;
    if (other < size)
      join(world, &team, &table, other, high);
    if (rank == 0)
      printf("teams of %d ranks\n", 2 * width < size ? 2 * width : size);
  }

  int right = is_right(table, teams);
  if (rank == 0)
    printf("%d tables added up: %s\n", teams, right ? "right" : "WRONG");
  check(rg_array_free(&table));
  check(rg_group_free(&team));
  check(rg_group_free(&world));
  check(rg_finalize());
  MPI_Finalize();
  return right ? 0 : 1;
}
