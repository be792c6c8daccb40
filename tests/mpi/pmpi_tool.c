/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A tool on MPI's profiling interface, as others are made: it counts calls and passes them on under
 * their names PMPI_... test_pmpi_tool.py makes a shared library of it. In MPI_Finalize rank 0
 * prints the counts of all processes. */
#include <mpi.h>
#include <stdio.h>

enum { BARRIER, ALLREDUCE, SEND, PUT, COUNTS };

static long long counts[COUNTS];

int MPI_Barrier(MPI_Comm comm) {
  counts[BARRIER]++;
  return PMPI_Barrier(comm);
}

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  counts[ALLREDUCE]++;
  return PMPI_Allreduce(send, recv, count, type, op, comm);
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  counts[SEND]++;
  return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Put(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint at,
            int target_count, MPI_Datatype target_type, MPI_Win win) {
  counts[PUT]++;
  return PMPI_Put(origin, count, type, target, at, target_count, target_type, win);
}

int MPI_Finalize(void) {
  long long sum[COUNTS];
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Reduce(counts, sum, COUNTS, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    fprintf(stderr, "tool: barrier %lld allreduce %lld send %lld put %lld\n", sum[BARRIER],
            sum[ALLREDUCE], sum[SEND], sum[PUT]);
  return PMPI_Finalize();
}
