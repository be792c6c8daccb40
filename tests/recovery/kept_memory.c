/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_accesses.py starts, with RG_SURVIVE=1, on three ranks of two nodes. Rank 0 frees an
 * array, and rank 2 dies before it has freed it, so that rank 0 never learns whether rank 1 has.
 * Rank 1 has not: it still writes to rank 0's elements. None of rank 0's later arrays may have got
 * that memory. In the end rank 0 prints "RESULT". */
#include "ranks.h"

enum { LENGTH = 1000, ARRAYS = 4 }; /* elements of each rank; later arrays */

static rg_array make_array(rg_group g) {
  const int64_t shape = (int64_t)LENGTH * size_of(g);
  rg_array a = NULL;
  must(!rg_array_create_simple(g, RG_TYPE_DOUBLE, 1, &shape, &a), "rg_array_create_simple");
  return a;
}

/* All elements of rank 0. */
static void fill(rg_array a, double value) {
  const int64_t lo = 0, hi = LENGTH;
  double values[LENGTH];
  for (int i = 0; i < LENGTH; i++)
    values[i] = value;
  must(!rg_array_put(a, &lo, &hi, values, NULL) && !rg_array_fence(a), "rg_array_put");
}

static void check(rg_array a, double value) {
  const int64_t lo = 0, hi = LENGTH;
  double values[LENGTH];
  must(!rg_array_get(a, &lo, &hi, values, NULL), "rg_array_get");
  for (int i = 0; i < LENGTH; i++)
    must(values[i] == value, "an element of another array");
}

int main(int argc, char **argv) {
  rg_group g = enter_world(&argc, &argv), next;
  rg_array old = make_array(g), later[ARRAYS];
  int error = rg_barrier(g); /* rank 2 may be dead before all have left it */
  must(!error || error == RG_ERR_PROC_FAILED, "rg_barrier");
  if (my_rank == 2) {
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  if (my_rank == 0) {
    must(!rg_array_free(&old), "rg_array_free");
    MPI_Send(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD);
  }
  do
    next = survivors_of(g);
  while (size_of(next) == 3 && !rg_group_free(&next));
  for (int i = 0; i < ARRAYS; i++) {
    later[i] = make_array(next);
    if (my_rank == 0)
      fill(later[i], i);
    must(!rg_barrier(next), "rg_barrier");
    if (my_rank == 1)
      fill(old, -1);
    must(!rg_barrier(next), "rg_barrier");
    if (my_rank == 0)
      check(later[i], i);
  }
  for (int i = 0; i < ARRAYS; i++)
    must(!rg_array_free(&later[i]), "rg_array_free");
  if (my_rank == 1)
    must(!rg_array_free(&old), "rg_array_free");
  if (my_rank == 0)
    puts("RESULT");
  rg_group_free(&next);
  leave_world(&g);
  return 0;
}
