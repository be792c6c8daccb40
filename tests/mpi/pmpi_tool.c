/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A tool on MPI's profiling interface, as others are made: it counts calls and passes them on under
 * their names PMPI_... test_pmpi_tool.py makes a shared library of it. In MPI_Finalize rank 0
 * prints the counts of all processes, which come on a communicator that it has made in MPI_Init. */
#include <mpi.h>
#include <stdio.h>

enum { BARRIER, ALLREDUCE, SEND, PUT, LOOK, COUNTS };

static long long counts[COUNTS];
static MPI_Comm own = MPI_COMM_NULL;

int MPI_Init(int *argc, char ***argv) {
  int error = PMPI_Init(argc, argv);
  PMPI_Comm_dup(MPI_COMM_WORLD, &own);
  return error;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  counts[LOOK]++;
  return PMPI_Iprobe(source, tag, comm, flag, status);
}

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
  PMPI_Comm_rank(own, &rank);
  PMPI_Reduce(counts, sum, COUNTS, MPI_LONG_LONG, MPI_SUM, 0, own);
  PMPI_Comm_free(&own);
  if (rank == 0)
    fprintf(stderr, "tool: barrier %lld allreduce %lld send %lld put %lld look %lld\n",
            sum[BARRIER], sum[ALLREDUCE], sum[SEND], sum[PUT], sum[LOOK]);
  return PMPI_Finalize();
}
