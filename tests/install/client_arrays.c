/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A user's first program with an array: what the tests compile against the
 * installed package. */
#include <regroup.h>
#include <stdio.h>

static int use(rg_group world, int64_t size, int64_t rank, int64_t *got) {
  rg_array a = NULL;
  int64_t end = rank + 1, other = (rank + 1) % size, other_end = other + 1;
  return rg_array_create_simple(world, RG_TYPE_INT64, 1, &size, &a) ||
         rg_array_put(a, &rank, &end, &rank, NULL) || rg_array_sync(a) ||
         rg_array_get(a, &other, &other_end, got, NULL) || rg_array_free(&a);
}

int main(int argc, char **argv) {
  rg_group world = NULL;
  int size = 0, rank = -1, active = -1, error;
  int64_t got = -1;
  MPI_Init(&argc, &argv);
  error = rg_init(MPI_COMM_WORLD, NULL);
  if (!error)
    error = rg_group_world(&world) || rg_group_size(world, &size) || rg_group_rank(world, &rank) ||
            use(world, size, rank, &got) || rg_group_free(&world) || rg_polite_active(&active) ||
            rg_finalize();
  if (!error && got != (rank + 1) % size)
    error = 1;
  if (error)
    fprintf(stderr, "%s\n", rg_error_detail());
  else if (rank == 0)
    printf("size %d polite %d\n", size, active);
  MPI_Finalize();
  return error != 0;
}
