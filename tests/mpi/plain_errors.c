/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Wrong calls: the error's class, and that it comes through the communicator's handler.
 * plain_errors unchecked: those with which MPICH reads and writes at wrong addresses.
 * plain_errors lengths, dead: members that mean different lengths; one that ends. Errors are
 * fatal. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

static int handled;

static void handle(MPI_Comm *comm, int *code, ...) {
  MPI_Comm copy;
  (void)code;
  handled++;
  if (*comm != MPI_COMM_NULL && MPI_Comm_dup(*comm, &copy) == MPI_SUCCESS)
    MPI_Comm_free(&copy);
}

static void told(const char *name, int code) {
  int class;
  MPI_Error_class(code, &class);
  plain_number(name, class * 100 + handled);
  handled = 0;
}

/* With Open MPI 4.1 these are segmentation faults of its own. */
static void wrong_memory(MPI_Comm comm) {
#ifndef OPEN_MPI
  int in[64] = {0}, out[64], negative[64], displs[64] = {0};
  for (int i = 0; i < 64; i++)
    negative[i] = -1;
  told("memory", MPI_Bcast(NULL, 1, MPI_INT, 0, comm));
  told("counts", MPI_Allgatherv(in, 1, MPI_INT, out, negative, displs, MPI_INT, comm));
#endif
  (void)comm;
}

static void op_nothing(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)in, (void)inout, (void)n, (void)type;
}

/* What MPICH refuses on all processes alike; Open MPI 4.1 does not. */
static void wrong_buffers(MPI_Comm comm) {
#ifndef OPEN_MPI
  int x[64] = {0}, out[64], ones[64], places[64];
  MPI_Datatype pair;
  MPI_Op op;
  for (int i = 0; i < 64; i++)
    ones[i] = places[i] = 1;
  told("allreduce, same", MPI_Allreduce(x, x, 1, MPI_INT, MPI_SUM, comm));
  told("scan, same", MPI_Scan(x, x, 1, MPI_INT, MPI_SUM, comm));
  told("exscan, same", MPI_Exscan(x, x, 1, MPI_DOUBLE, MPI_PROD, comm));
  told("block, same", MPI_Reduce_scatter_block(x, x, 1, MPI_INT, MPI_MAX, comm));
  told("reduce_scatter, same", MPI_Reduce_scatter(x, x, ones, MPI_INT, MPI_SUM, comm));
  told("alltoall, same", MPI_Alltoall(x, 1, MPI_INT, x, 1, MPI_INT, comm));
  told("alltoallv, same", MPI_Alltoallv(x, ones, places, MPI_INT, x, ones, places, MPI_INT, comm));
  told("no data", MPI_Allreduce(x, x, 0, MPI_INT, MPI_SUM, comm));
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Op_create(op_nothing, 1, &op);
  told("bcast, uncommitted", MPI_Bcast(x, 1, pair, 0, comm));
  told("allgather, uncommitted", MPI_Allgather(x, 1, pair, out, 1, pair, comm));
  told("allgatherv, uncommitted", MPI_Allgatherv(x, 1, pair, out, ones, places, pair, comm));
  told("allreduce, uncommitted", MPI_Allreduce(x, out, 1, pair, op, comm));
  MPI_Type_commit(&pair);
  told("sum of pairs", MPI_Allreduce(x, out, 1, pair, MPI_SUM, comm));
  told("character", MPI_Allreduce(x, out, 1, MPI_CHAR, MPI_MINLOC, comm));
  told("replace", MPI_Scan(x, out, 1, MPI_INT, MPI_REPLACE, comm));
  told("reduced, no operation",
       MPI_Ireduce(x, out, 1, MPI_INT, MPI_OP_NULL, 0, comm, &(MPI_Request){MPI_REQUEST_NULL}));
  MPI_Type_free(&pair);
  MPI_Op_free(&op);
#endif
  (void)comm;
}

static void unchecked_calls(MPI_Comm comm, int rank) {
  int x[64] = {0}, out[64];
  told("bcast", MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm));
  told("counts", MPI_Alltoallv(x, NULL, NULL, MPI_INT, out, NULL, NULL, MPI_INT, comm));
  told("gatherv", MPI_Allgatherv(x, 1, MPI_INT, out, NULL, NULL, MPI_INT, comm));
  told("reduce_scatter", MPI_Reduce_scatter(x, out, NULL, MPI_INT, MPI_SUM, comm));
  told("reduce", rank ? MPI_Reduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, 0, comm) : 0);
  told("gather", rank ? MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, 0, comm) : 0);
  told("scatter", rank ? MPI_Scatter(x, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, comm) : 0);
}

static void wrong_calls(MPI_Comm comm) {
  int size, in[64] = {0}, out[64];
  MPI_Comm_size(comm, &size);
  told("good", MPI_Bcast(in, 1, MPI_INT, 0, comm));
  told("root", MPI_Bcast(in, 1, MPI_INT, size, comm));
  told("negative root", MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, -7, comm));
  told("count", MPI_Bcast(in, -1, MPI_INT, 0, comm));
  told("type", MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, comm));
  told("operation", MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
  told("no such operation", MPI_Scan(in, out, 1, MPI_DOUBLE, MPI_BAND, comm));
  told("place", MPI_Alltoall(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
  wrong_memory(comm);
  wrong_buffers(comm);
  told("good again", MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm));
}

/* 1: the program is to end then. */
static int other_run(const char *which) {
  int x[64] = {0}, rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!strcmp(which, "unchecked")) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    unchecked_calls(MPI_COMM_WORLD, rank);
    return 1;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(which, "dead") && rank == 0)
    abort();
  MPI_Allreduce(MPI_IN_PLACE, x, rank == 0 ? 20 : 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return 1;
}

int main(int argc, char **argv) {
  MPI_Errhandler own;
  MPI_Comm comm;
  int flag;
  MPI_Initialized(&flag);
  MPI_Init(&argc, &argv);
  plain_number("initialised before", flag);
  if (argc > 1 && other_run(argv[1]))
    return MPI_Finalize();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  wrong_calls(MPI_COMM_WORLD);
  MPI_Comm_create_errhandler(handle, &own);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, own);
  MPI_Errhandler_free(&own);
  wrong_calls(comm);
  MPI_Comm_free(&comm);
  told("no communicator", MPI_Barrier(MPI_COMM_NULL));
  MPI_Finalize();
  return 0;
}
