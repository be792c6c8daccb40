/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-math: whole arrays against plain loops, and against CBLAS, that do each
 * process's share of the same work in its own memory; interleaved, medians.
 *
 *     mpiexec.mpich -n 2 build/bin/bench-math [extent] [samples]      (2048 31) */
#include <cblas.h>
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/stats.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define PLAIN                                                                                      \
  __attribute__((noinline, optimize("O3,associative-math,no-signed-zeros,no-trapping-math")))
#else
#define PLAIN __attribute__((noinline))
#endif

static rg_group world;
static int rank, size;
static int64_t extent = 2048, share; /* elements of each process */
static rg_array a, b, c;
static double *x, *y, *z;
static volatile double sink;

static void must(int error) {
  if (error) {
    fprintf(stderr, "bench-math: %s\n", rg_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void array_fill(void) {
  const double two = 2;
  must(rg_array_fill(c, NULL, NULL, &two));
}

PLAIN static void plain_fill(void) {
  double *to = z;
  for (int64_t i = 0; i < share; i++)
    to[i] = 2;
}

static void array_add(void) {
  const double one = 1, two = 2;
  must(rg_array_add(&one, a, &two, b, c));
}

PLAIN static void plain_add(void) {
  double *to = z;
  const double *p = x, *q = y;
  for (int64_t i = 0; i < share; i++)
    to[i] = 1.5 * p[i] + 2 * q[i];
}

static void array_dot(void) {
  double dot;
  must(rg_array_dot(a, b, &dot));
  sink = dot;
}

PLAIN static void plain_dot(void) {
  double sum = 0;
  const double *p = x, *q = y;
  for (int64_t i = 0; i < share; i++)
    sum += p[i] * q[i];
  sink = sum;
}

static void array_sum(void) {
  double sum;
  must(rg_array_sum(a, NULL, NULL, &sum));
  sink = sum;
}

PLAIN static void plain_sum(void) {
  double sum = 0;
  const double *p = x;
  for (int64_t i = 0; i < share; i++)
    sum += p[i];
  sink = sum;
}

static void array_multiply(void) {
  const double one = 1, zero = 0;
  must(rg_array_multiply(RG_NORMAL, RG_NORMAL, &one, a, b, &zero, c));
}

/* The process's rows of c: of two matrices that each process has to itself. */
static double *left, *right, *result;
static void cblas_multiply(void) {
  const blasint n = (blasint)extent,
                rows = (blasint)(extent * (rank + 1) / size) - (blasint)(extent * rank / size);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, n, n, 1, left, n, right, n, 0,
              result, n);
}

/* --- measuring ------------------------------------------------------------------------- */

/* Microseconds until the last process is done. */
static double time_of(void (*f)(void)) {
  must(rg_barrier(world));
  double start = MPI_Wtime();
  f();
  must(rg_barrier(world));
  return (MPI_Wtime() - start) * 1e6;
}

static void compare(const char *name, void (*ours)(void), void (*plain)(void), int samples) {
  double *times = malloc(2 * (size_t)samples * sizeof *times);
  bench_stats s, t;
  ours();
  plain();
  for (int i = 0; i < samples; i++) {
    times[i] = time_of(ours);
    times[samples + i] = time_of(plain);
  }
  if (rank == 0 && bench_stats_of(samples, times, &s) &&
      bench_stats_of(samples, times + samples, &t))
    printf("%-10s %12.1f %12.1f %8.2f %12.1f %12.1f\n", name, s.median, t.median,
           s.median / t.median, s.min, t.min);
  free(times);
}

static double *memory(int64_t n) {
  double *at = malloc((size_t)n * sizeof *at);
  for (int64_t i = 0; at && i < n; i++)
    at[i] = 1.0 / (double)(i + 1);
  return at;
}

static void make(void) {
  const int64_t shape[2] = {extent, extent};
  rg_array *const arrays[] = {&a, &b, &c};
  for (int i = 0; i < 3; i++) {
    must(rg_array_create_simple(world, RG_DOUBLE, 2, shape, arrays[i]));
    must(rg_array_random(*arrays[i], (uint64_t)i));
  }
  share = extent * extent / size;
  x = memory(share);
  y = memory(share);
  z = memory(share);
  left = memory(extent * extent);
  right = memory(extent * extent);
  result = memory(extent * extent);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  must(rg_init(MPI_COMM_WORLD, NULL));
  must(rg_group_world(&world));
  must(rg_group_rank(world, &rank));
  must(rg_group_size(world, &size));
  extent = argc > 1 ? atoll(argv[1]) : extent;
  int samples = argc > 2 ? atoi(argv[2]) : 31;
  openblas_set_num_threads(1); /* the library does so by itself where ranks fill the node */
  make();
  if (rank == 0)
    printf("%lld x %lld doubles, %d processes: medians and least times in us\n"
           "%-10s %12s %12s %8s %12s %12s\n",
           (long long)extent, (long long)extent, size, "", "array", "plain", "ratio", "array",
           "plain");
  compare("fill", array_fill, plain_fill, samples);
  compare("add", array_add, plain_add, samples);
  compare("dot", array_dot, plain_dot, samples);
  compare("sum", array_sum, plain_sum, samples);
  compare("multiply", array_multiply, cblas_multiply, samples / 4 + 1);
  rg_array *const arrays[] = {&a, &b, &c};
  double *const all[] = {x, y, z, left, right, result};
  for (int i = 0; i < 3; i++)
    must(rg_array_free(arrays[i]));
  for (int i = 0; i < 6; i++)
    free(all[i]);
  must(rg_group_free(&world));
  must(rg_finalize());
  MPI_Finalize();
  return 0;
}
