/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A matrix product: c = a b for two random matrices that are divided among all ranks,
 * checked without a second product (Freivalds): c x = a (b x) for a random vector x.
 *
 *   example-multiply [extent]     (default 600) */
#include <math.h>
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/check.h"

static rg_array make(rg_group g, int dims, int64_t n) {
  const int64_t shape[2] = {n, n};
  rg_array a;
  check(rg_array_create_simple(g, RG_TYPE_DOUBLE, dims, shape, &a));
  return a;
}

/* |c x - a (b x)| / |c x| */
static double fault(rg_group g, int64_t n, rg_array a, rg_array b, rg_array c) {
  const double one = 1, minus = -1, zero = 0;
  double size, difference;
  rg_array x = make(g, 1, n), bx = make(g, 1, n), cx = make(g, 1, n);
  check(rg_array_random(x, 3));
  check(rg_array_multiply_vector(RG_FORM_NORMAL, &one, b, x, &zero, bx));
  check(rg_array_multiply_vector(RG_FORM_NORMAL, &one, c, x, &zero, cx));
  check(rg_array_norm(cx, RG_NORM_2, &size));
  check(rg_array_multiply_vector(RG_FORM_NORMAL, &minus, a, bx, &one, cx));
  check(rg_array_norm(cx, RG_NORM_2, &difference));
  check(rg_array_free(&x));
  check(rg_array_free(&bx));
  check(rg_array_free(&cx));
  return difference / size;
}

int main(int argc, char **argv) {
  const double one = 1, zero = 0;
  rg_group world;
  int rank;
  MPI_Init(&argc, &argv);
  int64_t n = argc > 1 ? atoll(argv[1]) : 600;
  if (n < 1) {
    fprintf(stderr, "usage: %s [extent, at least 1]\n", argv[0]);
    MPI_Finalize();
    return 2;
  }
  check(rg_init(MPI_COMM_WORLD, NULL));
  check(rg_group_world(&world));
  check(rg_group_rank(world, &rank));

  rg_array a = make(world, 2, n), b = make(world, 2, n), c = make(world, 2, n);
  check(rg_array_random(a, 1));
  check(rg_array_random(b, 2));
  double start = MPI_Wtime();
  check(rg_array_multiply(RG_FORM_NORMAL, RG_FORM_NORMAL, &one, a, b, &zero, c));
  double seconds = MPI_Wtime() - start, wrong = fault(world, n, a, b, c);
  if (rank == 0)
    printf("%lld x %lld: %.4f s, %.2f Gflop/s, relative fault %.1e\n", (long long)n, (long long)n,
           seconds, 2e-9 * (double)n * (double)n * (double)n / seconds, wrong);

  check(rg_array_free(&a));
  check(rg_array_free(&b));
  check(rg_array_free(&c));
  check(rg_group_free(&world));
  check(rg_finalize());
  MPI_Finalize();
  return wrong < 1e-12 ? 0 : 1;
}
