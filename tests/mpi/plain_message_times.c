/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How long messages and collectives take, for tests/bench/surviving.py: plain_message_times prints
 * "TIME name bytes microseconds", the median of several batches of calls on rank 0. */
#include <stdio.h>
#include <stdlib.h>

#include "plain.h"

enum { LONGEST = 1 << 20, BATCHES = 7 };

static int rank, size;
static char *in, *out;

/* There and back, of which half is one message. */
static void send_and_receive(int bytes) {
  if (rank == 0) {
    MPI_Send(out, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(in, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  }
}

static void exchange(int bytes) {
  MPI_Request r[2];
  MPI_Status states[2]; /* gcc warns of MPI_STATUSES_IGNORE */
  if (rank > 1)
    return;
  MPI_Irecv(in, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(out, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, states);
}

static void synchronous(int bytes) {
  if (rank == 0)
    MPI_Ssend(out, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  else if (rank == 1)
    MPI_Recv(in, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(int bytes) {
  (void)bytes;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int bytes) {
  MPI_Bcast(out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void allreduce(int bytes) {
  MPI_Allreduce(out, in, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(int bytes) {
  MPI_Alltoall(out, bytes / size, MPI_CHAR, in, bytes / size, MPI_CHAR, MPI_COMM_WORLD);
}

static void iallreduce(int bytes) {
  MPI_Request r;
  MPI_Iallreduce(out, in, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static const struct {
  const char *name;
  void (*call)(int bytes);
  int share; /* of the time that is told */
} calls[] = {{"MPI_Send", send_and_receive, 2}, {"MPI_Isend", exchange, 1},
             {"MPI_Ssend", synchronous, 1},     {"MPI_Barrier", barrier, 1},
             {"MPI_Bcast", bcast, 1},           {"MPI_Allreduce", allreduce, 1},
             {"MPI_Alltoall", alltoall, 1},     {"MPI_Iallreduce", iallreduce, 1}};

static double time_of(int i, int bytes, int times) {
  double took[BATCHES];
  for (int batch = 0; batch < BATCHES; batch++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double since = MPI_Wtime();
    for (int n = 0; n < times; n++)
      calls[i].call(bytes);
    took[batch] = (MPI_Wtime() - since) / times / calls[i].share;
  }
  return plain_median(took, BATCHES);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  in = calloc(2, LONGEST);
  out = calloc(2, LONGEST);
  for (size_t i = 0; i < sizeof calls / sizeof *calls && size > 1; i++)
    for (int bytes = 8; bytes <= LONGEST; bytes *= bytes < 1024 ? 128 : 32) {
      double took = time_of((int)i, bytes, bytes > 65536 ? 8 : 60);
      if (rank == 0)
        printf("TIME %s %d %.3f\n", calls[i].name, bytes, 1e6 * took);
      if (calls[i].call == barrier)
        break;
    }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
