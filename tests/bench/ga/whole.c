/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whole arrays, by all ranks. The memory's contender does each rank's share of the
 * work on private memory, without the others. */
#include <cblas.h>
#include <ga.h>
#include <macdecls.h>
#include <math.h>
#include <stdlib.h>

#include "bench.h"

#define N 2048 /* matrix multiply */
#define LIVES 20
#define SYNCS 200

/* --- creating and destroying ---------------------------------------------------------- */

static int begin_nothing(ga_work *w) {
  (void)w;
  return 1;
}

static void end_nothing(ga_work *w) {
  (void)w;
}

static const char *life_ours(void *work) {
  ga_work *w = work;
  int64_t shape[2] = {256, 256};
  for (int i = 0; i < LIVES; i++)
    if (rg_array_create_simple(w->world, RG_TYPE_DOUBLE, 2, shape, &w->a) || rg_array_free(&w->a))
      return rg_error_detail();
  return NULL;
}

static const char *life_theirs(void *work) {
  int dims[2] = {256, 256};
  (void)work;
  for (int i = 0; i < LIVES; i++)
    GA_Destroy(ga_array(C_DBL, 2, dims, NULL));
  return NULL;
}

/* --- sync and global sum ------------------------------------------------------------------ */

static int begin_sync(ga_work *w) {
  int64_t shape[1] = {w->ranks};
  return !rg_array_create_simple(w->world, RG_TYPE_DOUBLE, 1, shape, &w->a);
}

static void end_sync(ga_work *w) {
  rg_array_free(&w->a);
}

static const char *sync_ours(void *work) {
  ga_work *w = work;
  for (int i = 0; i < SYNCS; i++)
    if (rg_array_sync(w->a))
      return rg_error_detail();
  return NULL;
}

static const char *sync_theirs(void *work) {
  (void)work;
  for (int i = 0; i < SYNCS; i++)
    GA_Sync();
  return NULL;
}

/* Here the group's own collective is what it is compared with. */
static const char *sync_group(void *work) {
  ga_work *w = work;
  for (int i = 0; i < SYNCS; i++)
    if (rg_barrier(w->world))
      return rg_error_detail();
  return NULL;
}

static const char *sum_ours(void *work) {
  ga_work *w = work;
  for (int i = 0; i < SYNCS; i++) {
    double x = 1;
    if (rg_allreduce(w->world, MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM))
      return rg_error_detail();
    if (x != w->ranks)
      return "the sum is wrong";
  }
  return NULL;
}

static const char *sum_theirs(void *work) {
  char plus[] = "+";
  ga_work *w = work;
  for (int i = 0; i < SYNCS; i++) {
    double x = 1;
    GA_Dgop(&x, 1, plus);
    if (x != w->ranks)
      return "the sum is wrong";
  }
  return NULL;
}

/* --- matrices --------------------------------------------------------------------------------- */

static double entry(int64_t i, int64_t j, int which) {
  return (double)((i * (which ? 3 : 7) + j * (which ? 5 : 2)) % 11) - 5;
}

static int fill_entries(rg_array a, int which) {
  int64_t lo[2], hi[2], ld[1];
  double *block;
  int rank;
  rg_group g;
  if (rg_array_group(a, &g) || rg_group_rank(g, &rank) || rg_array_distribution(a, rank, lo, hi))
    return 0;
  if (lo[0] < hi[0] && lo[1] < hi[1]) {
    if (rg_array_access(a, lo, hi, RG_ACCESS_WRITE, &block, ld))
      return 0;
    for (int64_t i = lo[0]; i < hi[0]; i++)
      for (int64_t j = lo[1]; j < hi[1]; j++)
        block[(i - lo[0]) * ld[0] + j - lo[1]] = entry(i, j, which);
    rg_array_release(a, lo, hi);
  }
  return !rg_array_sync(a);
}

static void fill_entries_theirs(int a, int which) {
  int lo[2], hi[2], ld[1];
  double *block;
  NGA_Distribution(a, GA_Nodeid(), lo, hi);
  if (lo[0] >= 0 && hi[0] >= lo[0]) {
    NGA_Access(a, lo, hi, &block, ld);
    for (int i = lo[0]; i <= hi[0]; i++)
      for (int j = lo[1]; j <= hi[1]; j++)
        block[(long)(i - lo[0]) * ld[0] + j - lo[1]] = entry(i, j, which);
    NGA_Release_update(a, lo, hi);
  }
  GA_Sync();
}

static int begin_matrices(ga_work *w) {
  int64_t shape[2] = {N, N};
  int dims[2] = {N, N};
  rg_array *ours[] = {&w->a, &w->b, &w->c};
  int *theirs[] = {&w->ga, &w->gb, &w->gc};
  for (int i = 0; i < 3; i++) {
    if (rg_array_create_simple(w->world, RG_TYPE_DOUBLE, 2, shape, ours[i]) ||
        !fill_entries(*ours[i], i))
      return 0;
    *theirs[i] = ga_array(C_DBL, 2, dims, NULL);
    fill_entries_theirs(*theirs[i], i);
  }
  for (int i = 0; i < 3; i++) { /* whole operands, and this rank's rows of the product */
    w->buffer[i] = malloc((size_t)N * N * sizeof(double));
    if (!w->buffer[i])
      return 0;
    for (int64_t k = 0; k < (int64_t)N * N; k++)
      w->buffer[i][k] = entry(k / N, k % N, i);
  }
  return 1;
}

static void end_matrices(ga_work *w) {
  rg_array_free(&w->a);
  rg_array_free(&w->b);
  rg_array_free(&w->c);
  GA_Destroy(w->ga);
  GA_Destroy(w->gb);
  GA_Destroy(w->gc);
  for (int i = 0; i < 3; i++)
    free(w->buffer[i]);
}

static const char *multiply_ours(void *work) {
  ga_work *w = work;
  double one = 1, zero = 0;
  return rg_array_multiply(RG_FORM_NORMAL, RG_FORM_NORMAL, &one, w->a, w->b, &zero, w->c)
             ? rg_error_detail()
             : NULL;
}

static const char *multiply_theirs(void *work) {
  ga_work *w = work;
  GA_Dgemm('n', 'n', N, N, N, 1, w->ga, w->gb, 0, w->gc);
  return NULL;
}

static int rows_here(const ga_work *w) {
  return N / w->ranks + (w->rank < N % w->ranks);
}

static const char *multiply_memory(void *work) {
  ga_work *w = work;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows_here(w), N, N, 1, w->buffer[0], N,
              w->buffer[1], N, 0, w->buffer[2], N);
  return NULL;
}

/* One element of the product, worked out by itself. */
static const char *product_right(double value, int i, int j) {
  double expected = 0;
  for (int k = 0; k < N; k++)
    expected += entry(i, k, 0) * entry(k, j, 1);
  return value == expected ? NULL : "the product is wrong";
}

static const char *multiply_right(void *work) {
  ga_work *w = work;
  int64_t at[2] = {N / 3 + w->rank, N / 2 - w->rank};
  double x;
  return rg_array_gather(w->c, 1, at, &x) ? rg_error_detail()
                                          : product_right(x, (int)at[0], (int)at[1]);
}

static const char *multiply_right_theirs(void *work) {
  ga_work *w = work;
  int at[2] = {N / 3 + w->rank, N / 2 - w->rank}, ld[1] = {1};
  double x;
  NGA_Get(w->gc, at, at, &x, ld);
  return product_right(x, at[0], at[1]);
}

/* --- fill, dot, add: as fast as memory ----------------------------------------------------- */

static const char *fill_ours(void *work) {
  ga_work *w = work;
  double x = 2;
  return rg_array_fill(w->c, NULL, NULL, &x) ? rg_error_detail() : NULL;
}

static const char *fill_theirs(void *work) {
  ga_work *w = work;
  double x = 2;
  GA_Fill(w->gc, &x);
  return NULL;
}

static const char *fill_memory(void *work) {
  ga_work *w = work;
  double *restrict c = w->buffer[2];
  for (long i = 0, n = (long)rows_here(w) * N; i < n; i++)
    c[i] = 2;
  return NULL;
}

static const char *dot_ours(void *work) {
  ga_work *w = work;
  return rg_array_dot(w->a, w->b, &w->result[OURS]) ? rg_error_detail() : NULL;
}

static const char *dot_theirs(void *work) {
  ga_work *w = work;
  w->result[THEIRS] = GA_Ddot(w->ga, w->gb);
  return NULL;
}

static const char *dot_memory(void *work) {
  ga_work *w = work;
  const double *restrict a = w->buffer[0], *restrict b = w->buffer[1];
  double sum[8] = {0}; /* so that the compiler may use vectors */
  for (long i = 0, n = (long)rows_here(w) * N; i < n; i += 8)
    for (int k = 0; k < 8; k++)
      sum[k] += a[i + k] * b[i + k];
  w->result[MEMORY] = sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
  return NULL;
}

static const char *dot_right(void *work) {
  ga_work *w = work;
  return !w->result[THEIRS] || w->result[OURS] == w->result[THEIRS] ? NULL : "the dot is wrong";
}

static const char *add_ours(void *work) {
  ga_work *w = work;
  double alpha = 2, beta = 3;
  return rg_array_add(&alpha, w->a, &beta, w->b, w->c) ? rg_error_detail() : NULL;
}

static const char *add_theirs(void *work) {
  ga_work *w = work;
  double alpha = 2, beta = 3;
  GA_Add(&alpha, w->ga, &beta, w->gb, w->gc);
  return NULL;
}

static const char *add_memory(void *work) {
  ga_work *w = work;
  const double *restrict a = w->buffer[0], *restrict b = w->buffer[1];
  double *restrict c = w->buffer[2];
  for (long i = 0, n = (long)rows_here(w) * N; i < n; i++)
    c[i] = 2 * a[i] + 3 * b[i];
  return NULL;
}

static const char *add_right(void *work) {
  ga_work *w = work;
  int64_t at[2] = {N / 3, N / 2};
  double x;
  if (rg_array_gather(w->c, 1, at, &x))
    return rg_error_detail();
  return x == 2 * entry(at[0], at[1], 0) + 3 * entry(at[0], at[1], 1) ? NULL : "the sum is wrong";
}

#define WHOLE(name, size, batch, begin, end, ours, theirs, memory, right, right_theirs)            \
  {                                                                                                \
    name, size, 0, 0, batch, 1, 0, begin, end, {ours, theirs, memory}, {                           \
      right, right_theirs, NULL                                                                    \
    }                                                                                              \
  }

const ga_case ga_whole_cases[] = {
    WHOLE("create+destroy", "256x256", LIVES, begin_nothing, end_nothing, life_ours, life_theirs,
          NULL, NULL, NULL),
    WHOLE("sync", "", SYNCS, begin_sync, end_sync, sync_ours, sync_theirs, sync_group, NULL, NULL),
    WHOLE("sum of numbers", "8 B", SYNCS, begin_sync, end_sync, sum_ours, sum_theirs, NULL, NULL,
          NULL),
    WHOLE("multiply", "2048x2048", 1, begin_matrices, end_matrices, multiply_ours, multiply_theirs,
          multiply_memory, multiply_right, multiply_right_theirs),
    WHOLE("fill", "2048x2048", 1, begin_matrices, end_matrices, fill_ours, fill_theirs, fill_memory,
          NULL, NULL),
    WHOLE("dot", "2048x2048", 1, begin_matrices, end_matrices, dot_ours, dot_theirs, dot_memory,
          dot_right, NULL),
    WHOLE("add", "2048x2048", 1, begin_matrices, end_matrices, add_ours, add_theirs, add_memory,
          add_right, NULL),
    {.name = NULL}};
