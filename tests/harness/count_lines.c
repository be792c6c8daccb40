/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Counts the cache lines that collectives move, in a build with LINES=count. Prints for each
 * operation and size a line "OPERATION BYTES READ WRITTEN": the most that a rank reads and writes
 * in one call, after the first calls. Fails where a result is wrong. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/shared/lines_count.h"

#ifdef RG_COUNT_LINES

enum { LONGS = 128, FIRST = 8, CALLS = 16 };

static rg_group world;
static int rank, size;
static long *in, *out; /* LONGS for each rank */

/* One call on n numbers; returns whether it failed. */
typedef int collective(int n, int root);

static int run_barrier(int n, int root) {
  (void)n, (void)root;
  return rg_barrier(world);
}

static int run_bcast(int n, int root) {
  for (int i = 0; i < n; i++)
    out[i] = rank == root ? root + i : -1;
  int error = rg_bcast(world, out, n, MPI_LONG, root);
  return error || out[0] != root || out[n - 1] != root + n - 1;
}

static long sum_first(int ranks, int i) {
  return (long)ranks * (ranks - 1) / 2 + (long)ranks * i;
}

static int run_reduce(int n, int root) {
  int error = rg_reduce(world, in, out, n, MPI_LONG, MPI_SUM, root);
  return error || (rank == root && out[n - 1] != sum_first(size, n - 1));
}

static int run_allreduce(int n, int root) {
  (void)root;
  int error = rg_allreduce(world, in, out, n, MPI_LONG, MPI_SUM);
  return error || out[n - 1] != sum_first(size, n - 1);
}

static int run_scan(int n, int root) {
  (void)root;
  int error = rg_scan(world, in, out, n, MPI_LONG, MPI_SUM);
  return error || out[n - 1] != sum_first(rank + 1, n - 1);
}

static int run_exscan(int n, int root) {
  (void)root;
  int error = rg_exscan(world, in, out, n, MPI_LONG, MPI_SUM);
  return error || (rank > 0 && out[n - 1] != sum_first(rank, n - 1));
}

/* The last number of the last block. */
static int is_wrong(int n, long last) {
  return out[size * n - 1] != last;
}

static int run_gather(int n, int root) {
  int error = rg_gather(world, in, n, MPI_LONG, out, n, MPI_LONG, root);
  return error || (rank == root && is_wrong(n, size - 1 + n - 1));
}

static int run_scatter(int n, int root) {
  int error = rg_scatter(world, in, n, MPI_LONG, out, n, MPI_LONG, root);
  return error || out[n - 1] != root + rank * n + n - 1;
}

static int run_allgather(int n, int root) {
  (void)root;
  int error = rg_allgather(world, in, n, MPI_LONG, out, n, MPI_LONG);
  return error || is_wrong(n, size - 1 + n - 1);
}

static int run_alltoall(int n, int root) {
  (void)root;
  int error = rg_alltoall(world, in, n, MPI_LONG, out, n, MPI_LONG);
  return error || is_wrong(n, size - 1 + rank * n + n - 1);
}

static int run_reduce_scatter(int n, int root) {
  (void)root;
  int error = rg_reduce_scatter_block(world, in, out, n, MPI_LONG, MPI_SUM);
  return error || out[n - 1] != sum_first(size, rank * n + n - 1);
}

/* The most lines of one call, on any rank. Each call has another root if root is -1. */
static int count(const char *name, collective *run, int n, int root) {
  long most[2] = {0}, all[2];
  int failed = 0;
  for (int i = 0; i < CALLS; i++) {
    rgi_lines_count before = rgi_lines_count_now;
    failed |= run(n, root < 0 ? i * 5 % size : root);
    long read = (long)(rgi_lines_count_now.read - before.read);
    long written = (long)(rgi_lines_count_now.written - before.written);
    most[0] = i >= FIRST && read > most[0] ? read : most[0];
    most[1] = i >= FIRST && written > most[1] ? written : most[1];
  }
  failed |= rg_allreduce(world, most, all, 2, MPI_LONG, MPI_MAX);
  if (rank == 0)
    printf("%s %d %ld %ld\n", name, n * (int)sizeof(long), all[0], all[1]);
  return failed;
}

static int count_all(void) {
  const int sizes[] = {1, 7, 8, 128};
  int failed = count("barrier", run_barrier, 0, 0);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    failed |= count("bcast", run_bcast, sizes[i], 0);
    failed |= count("bcast-turns", run_bcast, sizes[i], -1);
    failed |= count("reduce", run_reduce, sizes[i], 0);
    failed |= count("reduce-turns", run_reduce, sizes[i], -1);
    failed |= count("allreduce", run_allreduce, sizes[i], 0);
    failed |= count("scan", run_scan, sizes[i], 0);
    failed |= count("exscan", run_exscan, sizes[i], 0);
    failed |= count("gather", run_gather, sizes[i], 0);
    failed |= count("scatter", run_scatter, sizes[i], 0);
    failed |= count("allgather", run_allgather, sizes[i], 0);
    failed |= count("alltoall", run_alltoall, sizes[i], 0);
    failed |= count("reduce_scatter", run_reduce_scatter, sizes[i], 0);
  }
  return failed;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int failed = rg_init(MPI_COMM_WORLD, NULL) || rg_group_world(&world);
  if (failed)
    MPI_Abort(MPI_COMM_WORLD, 1);
  rg_group_rank(world, &rank);
  rg_group_size(world, &size);
  in = calloc((size_t)size * LONGS, sizeof *in);
  out = calloc((size_t)size * LONGS, sizeof *out);
  if (!in || !out)
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < size * LONGS; i++)
    in[i] = rank + i;
  failed = count_all();
  free(in);
  free(out);
  rg_group_free(&world);
  failed |= rg_finalize();
  MPI_Finalize();
  return failed;
}

#else

int main(void) {
  puts("this build does not count: LINES=count does");
  return 77;
}

#endif
