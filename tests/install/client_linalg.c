/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A user's first program with linear algebra: what the tests compile against the installed
 * package. */
#include <regroup.h>
#include <stdio.h>

/* 2 x = 3 in each of size rows. */
static int use(rg_group world, int64_t size, double *got) {
  const double two = 2, three = 3;
  const int64_t square[2] = {size, size}, tall[2] = {size, 1}, at[2] = {size - 1, 0},
                end[2] = {size, 1};
  rg_array a = NULL, b = NULL;
  int error = rg_array_create_simple(world, RG_TYPE_DOUBLE, 2, square, &a) ||
              rg_array_create_simple(world, RG_TYPE_DOUBLE, 2, tall, &b) || rg_array_zero(a) ||
              rg_array_fill(b, NULL, NULL, &three);
  for (int64_t i = 0; !error && i < size; i++) {
    const int64_t here[2] = {i, i}, next[2] = {i + 1, i + 1};
    error = rg_array_fill(a, here, next, &two);
  }
  return error || rg_linalg_solve(a, NULL, b, NULL, b) || rg_array_get(b, at, end, got, NULL) ||
         rg_array_free(&a) || rg_array_free(&b);
}

int main(int argc, char **argv) {
  rg_group world = NULL;
  int size = 0, rank = -1, active = -1, error;
  double got = 0;
  MPI_Init(&argc, &argv);
  error = rg_init(MPI_COMM_WORLD, NULL);
  if (!error)
    error = rg_group_world(&world) || rg_group_size(world, &size) || rg_group_rank(world, &rank) ||
            use(world, size, &got) || rg_group_free(&world) || rg_polite_active(&active) ||
            rg_finalize();
  if (!error && got != 1.5)
    error = 1;
  if (error)
    fprintf(stderr, "%s\n", rg_error_detail());
  else if (rank == 0)
    printf("size %d polite %d\n", size, active);
  MPI_Finalize();
  return error != 0;
}
