/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * sources: tests/memory/shortage.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit
 * Linear algebra while a process lacks memory, which LAPACK and ScaLAPACK themselves have:
 * test_memory.py, and test_scalapack.py with several processes that compute. The matrix is the
 * Laplacian of a row of N points: 2 in the diagonal, -1 beside it. */
#include <math.h>
#include <regroup.h>
#include <regroup/array.h>
#include <regroup/array_math.h>
#include <regroup/linalg.h>

#include "tests/check/check.h"
#include "tests/memory/shortage.h"

enum { N = 6, ALL = N * N, BEFORE = 7 };

static const int64_t shape[] = {N, N}, none[] = {0, 0};
static const double before = BEFORE;
static rg_group other;
static rg_array a, b, c, d;
static double values[N], got[ALL];
static int64_t pivots[N], count;

/* All compute where ScaLAPACK can be loaded. */
static rg_linalg_options options = {.size = sizeof options, .block = 2};

static int choose_processes(void) {
  const char *lapack, *scalapack;
  int error = rg_linalg_libraries(&lapack, &scalapack);
  options.processes = scalapack ? rgt_size : 1;
  return error;
}

static int put_all(rg_array array, double at(int i, int j)) {
  double elements[ALL];
  for (int i = 0; i < ALL; i++)
    elements[i] = at(i / N, i % N);
  int error = rgt_rank == 0 ? rg_array_put(array, none, shape, elements, NULL) : RG_SUCCESS;
  return error ? error : rg_array_sync(array);
}

static double laplacian(int i, int j) {
  return i == j ? 2 : i - j == 1 || j - i == 1 ? -1 : 0;
}

/* The Laplacian of the matrix (i, j) -> i. */
static double of_rows(int i, int j) {
  (void)j;
  return i == N - 1 ? N : 0;
}

/* The results are on a group of their own with the same members. */
static int begin(void) {
  count = 0;
  for (int i = 0; i < N; i++) {
    values[i] = BEFORE;
    pivots[i] = BEFORE;
  }
  int error = choose_processes();
  if (!error)
    error = rg_group_dup(shortage_group, &other);
  if (!error)
    error = rg_array_create_simple(shortage_group, RG_TYPE_DOUBLE, 2, shape, &a);
  if (!error)
    error = rg_array_dup(a, &b);
  if (!error)
    error = rg_array_create_simple(other, RG_TYPE_DOUBLE, 2, shape, &c);
  if (!error)
    error = rg_array_dup(c, &d);
  if (!error)
    error = put_all(a, laplacian);
  if (!error)
    error = put_all(b, of_rows);
  error = error ? error : rg_array_fill(c, NULL, NULL, &before);
  return error ? error : rg_array_fill(d, NULL, NULL, &before);
}

static int begin_factored(void) {
  int error = begin();
  error = error ? error : rg_linalg_lu(a, &options, pivots, a);
  return error;
}

static int end(void) {
  rg_array *const arrays[] = {&a, &b, &c, &d};
  int error = RG_SUCCESS;
  for (int i = 0; i < 4 && !error; i++)
    error = rg_array_free(arrays[i]);
  return error ? error : rg_group_free(&other);
}

static int is_matrix(rg_array array, double at(int i, int j)) {
  int good = rg_array_get(array, none, shape, got, NULL) == RG_SUCCESS;
  for (int i = 0; i < ALL && good; i++)
    good = fabs(got[i] - at(i / N, i % N)) < 1e-9;
  return good;
}

static double as_before(int i, int j) {
  (void)i;
  (void)j;
  return BEFORE;
}

/* After an error the results are what they were. */
static int kept(int code) {
  shortage_over();
  int changed = code && (!is_matrix(c, as_before) || !is_matrix(d, as_before));
  for (int i = 0; code && i < N; i++)
    changed |= values[i] != BEFORE;
  return changed ? RG_ERR_INTERNAL : code;
}

static double eigenvalue(int i) {
  return 2 - 2 * cos((i + 1) * acos(-1) / (N + 1));
}

static int ascending(void) {
  int good = count == N;
  for (int i = 0; i < N; i++)
    good &= fabs(values[i] - eigenvalue(i)) < 1e-9;
  return good;
}

static int descending(void) {
  int good = 1;
  for (int i = 0; i < N; i++)
    good &= fabs(values[i] - eigenvalue(N - 1 - i)) < 1e-9;
  return good;
}

static int eigen(void) {
  return kept(rg_linalg_eigen(a, NULL, &options, values, &count, c));
}

static int eigen_values(void) {
  return kept(rg_linalg_eigen(a, NULL, &options, values, &count, NULL));
}

/* With b = a all values are 1. */
static int eigen_general(void) {
  return kept(rg_linalg_eigen(a, a, &options, values, &count, c));
}

static int is_ones(void) {
  int good = count == N;
  for (int i = 0; i < N; i++)
    good &= fabs(values[i] - 1) < 1e-9;
  return good;
}

static int singular(void) {
  return kept(rg_linalg_singular(a, &options, values, c, d));
}

static int cholesky(void) {
  return kept(rg_linalg_cholesky(a, &options, c));
}

static double lower(int i, int j) {
  return i == j ? sqrt((i + 2.0) / (i + 1)) : i == j + 1 ? -sqrt((j + 1.0) / (j + 2)) : 0;
}

static int is_lower(void) {
  return is_matrix(c, lower);
}

static int lu(void) {
  return kept(rg_linalg_lu(a, &options, pivots, c));
}

static double factors(int i, int j) {
  return i == j ? (i + 2.0) / (i + 1) : i == j + 1 ? -(j + 1.0) / (j + 2) : i + 1 == j ? -1 : 0;
}

static int is_factored(void) {
  int good = is_matrix(c, factors);
  for (int i = 0; i < N; i++)
    good &= pivots[i] == i;
  return good;
}

static int solve(void) {
  return kept(rg_linalg_solve(a, NULL, b, &options, c));
}

static int solve_factored(void) {
  return kept(rg_linalg_solve(a, pivots, b, &options, c));
}

/* a x = N e_N, with x_i = (i + 1) N / (N + 1). */
static double solution(int i, int j) {
  (void)j;
  return (i + 1.0) * N / (N + 1);
}

static int is_solved(void) {
  return is_matrix(c, solution);
}

static int inverse(void) {
  return kept(rg_linalg_inverse(a, &options, c));
}

static double inverted(int i, int j) {
  return i < j ? inverted(j, i) : (j + 1.0) * (N - i) / (N + 1);
}

static int is_inverse(void) {
  return is_matrix(c, inverted);
}

static const shortage_call calls[] = {
    {"rg_linalg_eigen", SHORTAGE_ALL, begin, eigen, ascending, end},
    {"rg_linalg_eigen, no vectors", SHORTAGE_ALL, begin, eigen_values, ascending, end},
    {"rg_linalg_eigen, general", SHORTAGE_ALL, begin, eigen_general, is_ones, end},
    {"rg_linalg_singular", SHORTAGE_ALL, begin, singular, descending, end},
    {"rg_linalg_cholesky", SHORTAGE_ALL, begin, cholesky, is_lower, end},
    {"rg_linalg_lu", SHORTAGE_ALL, begin, lu, is_factored, end},
    {"rg_linalg_solve", SHORTAGE_ALL, begin, solve, is_solved, end},
    {"rg_linalg_solve, factored", SHORTAGE_ALL, begin_factored, solve_factored, is_solved, end},
    {"rg_linalg_inverse", SHORTAGE_ALL, begin, inverse, is_inverse, end},
    {NULL, SHORTAGE_ALL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
  return shortage_main(argc, argv, "memory_linalg", calls);
}
