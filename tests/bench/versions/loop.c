/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Blocking collectives back to back, with a root that changes from call to call and buffers of
 * malloc, to be linked with two versions of the library (docs/performance.md, "Collectives beside
 * version 0.1"). Argument: seconds for each operation and length. Prints operation, bytes, and the
 * median in us of 20 batches, each of which is the slowest rank's. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 20, CALLS_MOST = 20000, LONGEST = 1 << 20 };

static rg_group world;
static char *in, *out;
static int rank, size;

typedef int operation(MPI_Count n, int root);

static int barrier(MPI_Count n, int root) {
  (void)n;
  (void)root;
  return rg_barrier(world);
}

static int bcast(MPI_Count n, int root) {
  return rg_bcast(world, in, n, MPI_CHAR, root);
}

static int reduce(MPI_Count n, int root) {
  return rg_reduce(world, in, out, n / 8, MPI_DOUBLE, MPI_SUM, root);
}

static int allreduce(MPI_Count n, int root) {
  (void)root;
  return rg_allreduce(world, in, out, n / 8, MPI_DOUBLE, MPI_SUM);
}

static int gather(MPI_Count n, int root) {
  return rg_gather(world, in, n, MPI_CHAR, out, n, MPI_CHAR, root);
}

static int scatter(MPI_Count n, int root) {
  return rg_scatter(world, in, n, MPI_CHAR, out, n, MPI_CHAR, root);
}

static int allgather(MPI_Count n, int root) {
  (void)root;
  return rg_allgather(world, in, n, MPI_CHAR, out, n, MPI_CHAR);
}

static int alltoall(MPI_Count n, int root) {
  (void)root;
  return rg_alltoall(world, in, n, MPI_CHAR, out, n, MPI_CHAR);
}

static int scan(MPI_Count n, int root) {
  (void)root;
  return rg_scan(world, in, out, n / 8, MPI_DOUBLE, MPI_SUM);
}

static int reduce_scatter(MPI_Count n, int root) {
  (void)root;
  return rg_reduce_scatter_block(world, in, out, n / 8, MPI_DOUBLE, MPI_SUM);
}

static const struct {
  const char *name;
  operation *call;
} all[] = {{"barrier", barrier},     {"bcast", bcast},
           {"reduce", reduce},       {"allreduce", allreduce},
           {"gather", gather},       {"scatter", scatter},
           {"allgather", allgather}, {"alltoall", alltoall},
           {"scan", scan},           {"reduce_scatter", reduce_scatter}};

/* Seconds of a call, the slowest rank's. */
static double time_batch(operation *call, MPI_Count n, int calls) {
  if (rg_barrier(world))
    MPI_Abort(MPI_COMM_WORLD, 1);
  double began = MPI_Wtime(), took;
  for (int i = 0; i < calls; i++)
    if (call(n, i % size))
      MPI_Abort(MPI_COMM_WORLD, 1);
  took = (MPI_Wtime() - began) / calls;
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(int op, MPI_Count n, double seconds) {
  double batch[BATCHES];
  time_batch(all[op].call, n, BATCHES); /* what the first calls make */
  double calls = seconds / BATCHES / time_batch(all[op].call, n, BATCHES);
  int each = calls < size ? size : calls > CALLS_MOST ? CALLS_MOST : (int)calls;
  for (int i = 0; i < BATCHES; i++)
    batch[i] = time_batch(all[op].call, n, each);
  qsort(batch, BATCHES, sizeof *batch, compare);
  if (rank == 0)
    printf("%-15s %8lld %10.4f\n", all[op].name, (long long)n, 1e6 * batch[BATCHES / 2]);
}

int main(int argc, char **argv) {
  static const MPI_Count lengths[] = {8, 64, 1024, 8192, 65536, LONGEST};
  double seconds = argc > 1 ? atof(argv[1]) : 0.05;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  in = calloc((size_t)size, LONGEST);
  out = calloc((size_t)size, LONGEST);
  if (!in || !out || rg_init(MPI_COMM_WORLD, NULL) || rg_group_world(&world))
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (int op = 0; op < (int)(sizeof all / sizeof *all); op++)
    for (int i = 0; i < 6 && (op > 0 || i == 0); i++)
      measure(op, lengths[i], seconds);
  rg_group_free(&world);
  rg_finalize();
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
