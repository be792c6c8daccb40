/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_solved.py starts: a rank, the argument, dies while eigenvalues are computed again and
 * again. The survivors get RG_ERR_PROC_FAILED, and compute on their own group. */
#include <math.h>
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { N = 200 };

static void check(int error) {
  if (error) {
    fprintf(stderr, "%s: %s\n", rg_error_name(error), rg_error_detail());
    abort();
  }
}

/* The unit matrix twice. */
static rg_array make(rg_group g) {
  const int64_t shape[2] = {N, N};
  const double two = 2;
  int rank;
  rg_array a;
  check(rg_array_create_simple(g, RG_TYPE_DOUBLE, 2, shape, &a));
  check(rg_array_zero(a));
  check(rg_group_rank(g, &rank));
  for (int64_t i = 0; i < N && rank == 0; i++)
    check(rg_array_put(a, (const int64_t[]){i, i}, (const int64_t[]){i + 1, i + 1}, &two, NULL));
  check(rg_array_sync(a));
  return a;
}

static int eigen(rg_array a, rg_array vectors) {
  double values[N];
  int64_t count = 0;
  int error = rg_linalg_eigen(a, NULL, NULL, values, &count, vectors);
  for (int i = 0; !error && i < N; i++)
    if (fabs(values[i] - 2) > 1e-12 || count != N)
      abort();
  return error;
}

/* More than one process is for ScaLAPACK, which would wait for the dead. */
static void ask_for_several(rg_array a) {
  rg_linalg_options options = {.size = sizeof options, .processes = 2};
  if (rg_linalg_inverse(a, &options, a) != RG_ERR_UNSUPPORTED ||
      !strstr(rg_error_detail(), "RG_SURVIVE"))
    abort();
}

int main(int argc, char **argv) {
  rg_group world, left;
  int rank, size, error = RG_SUCCESS;
  MPI_Init(&argc, &argv);
  check(rg_init(MPI_COMM_WORLD, NULL));
  check(rg_group_world(&world));
  check(rg_group_rank(world, &rank));
  rg_array a = make(world), vectors = make(world);
  ask_for_several(a);
  check(eigen(a, vectors));
  if (rank == atoi(argv[1])) { /* SIGALRM kills */
    const struct itimerval timer = {.it_value = {.tv_usec = 20000}};
    setitimer(ITIMER_REAL, &timer, NULL);
  }
  while (!error)
    error = eigen(a, vectors);
  if (error != RG_ERR_PROC_FAILED)
    check(error);
  check(rg_group_shrink(world, &left));
  check(rg_group_size(left, &size));
  rg_array b = make(left);
  check(eigen(b, b));
  check(rg_group_rank(left, &rank));
  if (rank == 0)
    printf("SOLVED %d\n", size);
  check(rg_array_free(&b));
  rg_array_free(&vectors);
  rg_array_free(&a);
  check(rg_group_free(&left));
  rg_group_free(&world);
  check(rg_finalize());
  MPI_Finalize();
  return argc != 2;
}
