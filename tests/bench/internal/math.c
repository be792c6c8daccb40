/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-internal math: operations on whole arrays against plain loops and CBLAS, which do each
 * process's share of the same work in its own memory; both take turns, the table shows medians.
 *
 *     mpiexec.mpich -n 2 build/bin/bench-internal math [EXTENT [SAMPLES]]      (2048, 31) */
#include <cblas.h>
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "tests/bench/stats.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define PLAIN                                                                                      \
  __attribute__((noinline, optimize("O3,associative-math,no-signed-zeros,no-trapping-math")))
#else
#define PLAIN __attribute__((noinline))
#endif

static rg_group world;
static int extent = 2048, samples = 31;
static int64_t share; /* elements of each process */
static rg_array a, b, c;
static double *x, *y, *z;
static volatile double sink;

static void array_fill(void) {
  const double two = 2;
  internal_must(rg_array_fill(c, NULL, NULL, &two));
}

PLAIN static void plain_fill(void) {
  double *to = z;
  for (int64_t i = 0; i < share; i++)
    to[i] = 2;
}

static void array_add(void) {
  const double one = 1, two = 2;
  internal_must(rg_array_add(&one, a, &two, b, c));
}

PLAIN static void plain_add(void) {
  double *to = z;
  const double *p = x, *q = y;
  for (int64_t i = 0; i < share; i++)
    to[i] = 1.5 * p[i] + 2 * q[i];
}

static void array_dot(void) {
  double dot;
  internal_must(rg_array_dot(a, b, &dot));
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
  internal_must(rg_array_sum(a, NULL, NULL, &sum));
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
  internal_must(rg_array_multiply(RG_FORM_NORMAL, RG_FORM_NORMAL, &one, a, b, &zero, c));
}

/* The process's rows of c: of two matrices that each process has to itself. */
static double *left, *right, *result;
static void cblas_multiply(void) {
  const int64_t all = extent;
  const int n = extent, rows = (int)(all * (internal_rank + 1) / internal_size -
                                     all * internal_rank / internal_size);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, n, n, 1, left, n, right, n, 0,
              result, n);
}

/* --- measuring ------------------------------------------------------------------------- */

/* Microseconds until the last process is done. */
static double time_of(void (*f)(void)) {
  internal_must(rg_barrier(world));
  double start = MPI_Wtime();
  f();
  internal_must(rg_barrier(world));
  return (MPI_Wtime() - start) * 1e6;
}

static void compare_calls(const char *name, void (*ours)(void), void (*plain)(void), int n) {
  double *times = malloc(2 * (size_t)n * sizeof *times);
  bench_stats s, t;
  ours();
  plain();
  for (int i = 0; i < n; i++) {
    times[i] = time_of(ours);
    times[n + i] = time_of(plain);
  }
  if (internal_rank == 0 && bench_stats_of(n, times, &s) && bench_stats_of(n, times + n, &t))
    printf("%-10s %12.1f %12.1f %8.2f %12.1f %12.1f\n", name, s.median, t.median,
           s.median / t.median, s.min, t.min);
  free(times);
}

static double *make_memory(int64_t n) {
  double *at = malloc((size_t)n * sizeof *at);
  for (int64_t i = 0; at && i < n; i++)
    at[i] = 1.0 / (double)(i + 1);
  return at;
}

static void make_operands(void) {
  const int64_t shape[2] = {extent, extent};
  rg_array *const arrays[] = {&a, &b, &c};
  for (int i = 0; i < 3; i++) {
    internal_must(rg_array_create_simple(world, RG_TYPE_DOUBLE, 2, shape, arrays[i]));
    internal_must(rg_array_random(*arrays[i], (uint64_t)i));
  }
  const int64_t all = (int64_t)extent * extent;
  share = all / internal_size;
  x = make_memory(share);
  y = make_memory(share);
  z = make_memory(share);
  left = make_memory(all);
  right = make_memory(all);
  result = make_memory(all);
}

static int run_math(char *const words[]) {
  (void)words;
  internal_must(rg_init(MPI_COMM_WORLD, NULL));
  internal_must(rg_group_world(&world));
#ifdef OPENBLAS_VERSION
  openblas_set_num_threads(1); /* the library does so by itself where ranks fill the node */
#endif
  make_operands();
  if (internal_rank == 0)
    printf("%d x %d doubles, %d processes: medians and least times in us\n"
           "%-10s %12s %12s %8s %12s %12s\n",
           extent, extent, internal_size, "", "array", "plain", "ratio", "array", "plain");
  compare_calls("fill", array_fill, plain_fill, samples);
  compare_calls("add", array_add, plain_add, samples);
  compare_calls("dot", array_dot, plain_dot, samples);
  compare_calls("sum", array_sum, plain_sum, samples);
  compare_calls("multiply", array_multiply, cblas_multiply, samples / 4 + 1);
  rg_array *const arrays[] = {&a, &b, &c};
  double *const all[] = {x, y, z, left, right, result};
  for (int i = 0; i < 3; i++)
    internal_must(rg_array_free(arrays[i]));
  for (int i = 0; i < 6; i++)
    free(all[i]);
  internal_must(rg_group_free(&world));
  internal_must(rg_finalize());
  return RGP_OK;
}

static int check_words(const char *const words[], char text[RGP_TEXT]) {
  const char *times = words[0] ? words[1] : NULL;
  return internal_read_number(words[0], "extent", 100000, &extent, text) ||
         internal_read_number(times, "number of samples", 1000000, &samples, text);
}

static const struct poptOption options[] = {POPT_TABLEEND};

const internal_command internal_math = {
    .program = {.name = "bench-internal math",
                .summary = "Compares operations on whole arrays with plain loops and CBLAS.",
                .arguments = "[EXTENT [SAMPLES]]",
                .options = options,
                .max_arguments = 2,
                .check = check_words},
    .threads = MPI_THREAD_SINGLE,
    .run = run_math};
