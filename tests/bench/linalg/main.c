/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-linalg N [RUNS]: all eigenvalues and eigenvectors of a random symmetric matrix of N rows by
 * rg_linalg_eigen, and by ScaLAPACK's routine, which is called directly on its own layout; in turn,
 * medians. RG_SCALAPACK names ScaLAPACK's file, as for the library. */
#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../stats.h"

enum { BLOCK = 64, MOST_RUNS = 99, RUNS = 5 };

typedef int handle_fn(MPI_Comm comm);
typedef void init_fn(int *context, const char *order, int rows, int columns);
typedef void info_fn(int context, int *rows, int *columns, int *row, int *column);
typedef void exit_fn(int context);
typedef void eigen_fn(const char *job, const char *triangle, const int *n, double *a, const int *ia,
                      const int *ja, const int *desc_a, double *w, double *z, const int *iz,
                      const int *jz, const int *desc_z, double *work, const int *work_n, int *iwork,
                      const int *iwork_n, int *info, size_t, size_t);

static struct {
  handle_fn *handle;
  init_fn *init;
  info_fn *info;
  exit_fn *leave;
  eigen_fn *eigen;
} scalapack;

static double redistribution; /* seconds of the last call, as the library's log tells them */

static void note_redistribution(int level, const char *line, void *context) {
  static const char word[] = "redistribution ";
  const char *found = strstr(line, word);
  (void)level, (void)context;
  redistribution = found ? atof(found + strlen(word)) : redistribution;
}

static int load(void) {
  const char *file = getenv("RG_SCALAPACK");
  void *opened = file ? dlopen(file, RTLD_NOW) : NULL;
  if (!opened)
    return 0;
  *(void **)&scalapack.handle = dlsym(opened, "Csys2blacs_handle");
  *(void **)&scalapack.init = dlsym(opened, "Cblacs_gridinit");
  *(void **)&scalapack.info = dlsym(opened, "Cblacs_gridinfo");
  *(void **)&scalapack.leave = dlsym(opened, "Cblacs_gridexit");
  *(void **)&scalapack.eigen = dlsym(opened, "pdsyevd_");
  return scalapack.handle && scalapack.init && scalapack.info && scalapack.leave && scalapack.eigen;
}

/* --- ScaLAPACK, called directly ------------------------------------------------------------- */

/* The local part of a matrix on a grid: its extents, and where the caller is. */
typedef struct {
  int n, context, grid[2], at[2], extent[2], desc[9];
} local_part;

/* Of n rows or columns in blocks over so many processes. */
static int local_extent(int n, int me, int processes) {
  int extent = 0;
  for (int first = me * BLOCK; first < n; first += processes * BLOCK)
    extent += n - first < BLOCK ? n - first : BLOCK;
  return extent;
}

static void make_part(int n, int ranks, local_part *part) {
  int rows = (int)sqrt(ranks);
  while (ranks % rows)
    rows--;
  part->n = n;
  part->context = scalapack.handle(MPI_COMM_WORLD);
  scalapack.init(&part->context, "R", rows, ranks / rows);
  scalapack.info(part->context, &part->grid[0], &part->grid[1], &part->at[0], &part->at[1]);
  for (int d = 0; d < 2; d++)
    part->extent[d] = local_extent(n, part->at[d], part->grid[d]);
  int lead = part->extent[0] > 1 ? part->extent[0] : 1;
  const int desc[9] = {1, part->context, n, n, BLOCK, BLOCK, 0, 0, lead};
  memcpy(part->desc, desc, sizeof desc);
}

static int global_index(const local_part *part, int d, int i) {
  return (i / BLOCK * part->grid[d] + part->at[d]) * BLOCK + i % BLOCK;
}

static void fetch_part(rg_array a, const local_part *part, double *local) {
  double *row = malloc((size_t)part->n * sizeof *row);
  for (int i = 0; i < part->extent[0]; i++) {
    int64_t lo[2] = {global_index(part, 0, i), 0}, hi[2] = {lo[0] + 1, part->n};
    rg_array_get(a, lo, hi, row, NULL);
    for (int j = 0; j < part->extent[1]; j++)
      local[(size_t)j * (size_t)part->desc[8] + (size_t)i] = row[global_index(part, 1, j)];
  }
  free(row);
}

/* Work of -1 elements asks how much is needed. */
static void solve(local_part *part, double *a, double *w, double *z, double *work, int *work_n,
                  int *iwork, int *iwork_n) {
  static const int one = 1;
  int info;
  scalapack.eigen("V", "L", &part->n, a, &one, &one, part->desc, w, z, &one, &one, part->desc, work,
                  work_n, iwork, iwork_n, &info, 1, 1);
}

static double time_scalapack(rg_array a, int n, int ranks, double *values) {
  local_part part;
  double asked[2];
  int iasked[2], query = -1;
  make_part(n, ranks, &part);
  size_t elements = (size_t)part.desc[8] * (size_t)(part.extent[1] + 1);
  double *local = malloc(elements * sizeof *local), *vectors = malloc(elements * sizeof *vectors);
  fetch_part(a, &part, local);
  solve(&part, local, values, vectors, asked, &query, iasked, &query);
  int work_n = (int)asked[0] + 1, iwork_n = iasked[0];
  double *work = malloc((size_t)work_n * sizeof *work);
  int *iwork = malloc((size_t)iwork_n * sizeof *iwork);
  MPI_Barrier(MPI_COMM_WORLD);
  double from = MPI_Wtime();
  solve(&part, local, values, vectors, work, &work_n, iwork, &iwork_n);
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = MPI_Wtime() - from;
  free(local);
  free(vectors);
  free(work);
  free(iwork);
  scalapack.leave(part.context);
  return seconds;
}

/* --- the comparison ------------------------------------------------------------------------- */

static rg_array make_matrix(rg_group world, int64_t n) {
  const int64_t shape[2] = {n, n};
  const double one = 1;
  rg_array a = NULL, other;
  if (rg_array_create_simple(world, RG_TYPE_DOUBLE, 2, shape, &a) || rg_array_dup(a, &other) ||
      rg_array_random(a, 1) || rg_array_transpose(a, other) ||
      rg_array_add(&one, a, &one, other, a) || rg_array_free(&other))
    return NULL;
  return a;
}

static double greatest_difference(int n, const double x[], const double y[]) {
  double most = 0;
  for (int i = 0; i < n; i++)
    most = fmax(most, fabs(x[i] - y[i]));
  return most;
}

static double median(int n, const double times[]) {
  bench_stats stats;
  return bench_stats_of(n, times, &stats) ? stats.median : -1;
}

static int compare(rg_group world, int n, int runs, int rank, int ranks) {
  double direct[MOST_RUNS], ours[MOST_RUNS], moved[MOST_RUNS], differ = 0;
  double *expected = malloc((size_t)n * sizeof *expected),
         *values = malloc((size_t)n * sizeof *values);
  const rg_linalg_options options = {.size = sizeof options, .processes = ranks};
  rg_array a = make_matrix(world, n), vectors = NULL;
  int error = !a || !expected || !values || rg_array_dup(a, &vectors);
  for (int i = 0; i < runs && !error; i++) {
    int64_t count;
    direct[i] = time_scalapack(a, n, ranks, expected);
    MPI_Barrier(MPI_COMM_WORLD);
    double from = MPI_Wtime();
    error = rg_linalg_eigen(a, NULL, &options, values, &count, vectors);
    moved[i] = redistribution;
    ours[i] = MPI_Wtime() - from - redistribution;
    differ = fmax(differ, greatest_difference(n, expected, values));
  }
  if (error)
    fprintf(stderr, "bench-linalg: %s\n", rg_error_detail());
  else if (rank == 0)
    printf(
        "n %d, %d ranks, seconds: ScaLAPACK %.3f, rg_linalg_eigen %.3f (%.2f) and redistribution "
        "%.3f; values differ by %.1e\n",
        n, ranks, median(runs, direct), median(runs, ours),
        median(runs, ours) / median(runs, direct), median(runs, moved), differ);
  rg_array_free(&vectors);
  rg_array_free(&a);
  free(expected);
  free(values);
  return error;
}

int main(int argc, char **argv) {
  rg_group world;
  int rank, ranks, n = argc > 1 ? atoi(argv[1]) : 0, runs = argc > 2 ? atoi(argv[2]) : RUNS;
  if (n < 1 || runs < 1 || runs > MOST_RUNS || !load()) {
    fprintf(stderr, "usage: RG_SCALAPACK=FILE bench-linalg N [RUNS]\n");
    return 2;
  }
  setenv("RG_LOG", "debug", 1);
  rg_log_set(note_redistribution, NULL);
  MPI_Init(&argc, &argv);
  int error = rg_init(MPI_COMM_WORLD, NULL) || rg_group_world(&world) ||
              rg_group_rank(world, &rank) || rg_group_size(world, &ranks) ||
              compare(world, n, runs, rank, ranks) || rg_group_free(&world) || rg_finalize();
  MPI_Finalize();
  return error;
}
