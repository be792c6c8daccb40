/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A tool on MPI's profiling interface, for test_fault.py, which makes a shared library of it: it
 * passes calls on under their names PMPI_..., and tells in MPI_Finalize whether it has seen all of
 * them. */
#include <mpi.h>
#include <stdio.h>

enum { ALLREDUCE = 1, BCAST = 2, DUP = 4, SPLIT = 8, ALL = 15 };

static int seen;

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  seen |= ALLREDUCE;
  return PMPI_Allreduce(send, recv, count, type, op, comm);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  seen |= BCAST;
  return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm) {
  seen |= DUP;
  return PMPI_Comm_dup(comm, newcomm);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm) {
  seen |= SPLIT;
  return PMPI_Comm_split(comm, color, key, newcomm);
}

int MPI_Finalize(void) {
  if (seen == ALL)
    printf("SEEN\n");
  fflush(stdout);
  return PMPI_Finalize();
}
