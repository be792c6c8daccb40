/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Counts the bytes that operations send through the network of a node:
 *
 *     traffic send BYTES TIMES FROM TO     MPI_Send from one rank to another
 *     traffic bcast BYTES TIMES            MPI_Bcast from rank 0
 *     traffic allreduce BYTES TIMES        MPI_Allreduce, a sum of doubles
 *     traffic rg_bcast BYTES TIMES         the same by the library
 *     traffic rg_allreduce BYTES TIMES
 *     traffic rg_gatherv BYTES TIMES       to rank 0; BYTES is the sum of all blocks,
 *     traffic rg_scatterv BYTES TIMES      rank i's share of it is i + 1
 *     traffic rg_allgatherv BYTES TIMES
 *     traffic allgatherv BYTES TIMES       MPI_Allgatherv
 *
 * Rank 0 prints a line for each rank: its host, how many ranks it shares memory
 * with, and what the host's eth0 has sent and received for each operation. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* MPICH changes the algorithm after the first few calls on a communicator. */
#define WARM_UP 6
#define SETTLE_MICROSECONDS 100000

typedef struct {
  char host[64];
  int neighbours;
  double sent, received;
} report;

static int rank, size;
static rg_group world;

static void read_counters(double *sent, double *received) {
  char line[512];
  FILE *f = fopen("/proc/self/net/dev", "r");
  *sent = *received = 0;
  while (f && fgets(line, sizeof line, f)) {
    char *found = strstr(line, "eth0:");
    if (found)
      sscanf(found + 5, "%lf %*f %*f %*f %*f %*f %*f %*f %lf", received, sent);
  }
  if (f)
    fclose(f);
}

static void send(char *buffer, int bytes, int from, int to) {
  if (rank == from)
    MPI_Send(buffer, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD);
  if (rank == to)
    MPI_Recv(buffer, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void must(int error) {
  if (error) {
    fprintf(stderr, "traffic: %s\n", rg_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* Blocks of BYTES in all, each larger than the one before. */
static void operate_uneven(char *all, int bytes, const char *name) {
  int *lengths = calloc((size_t)size, sizeof *lengths), *places = calloc((size_t)size, sizeof(int));
  MPI_Count *counts = calloc((size_t)size, sizeof *counts);
  MPI_Aint *displs = calloc((size_t)size, sizeof *displs);
  char *own = calloc((size_t)bytes, 1);
  int shares = size * (size + 1) / 2;
  for (int i = 0, before = 0; i < size; before += ++i) {
    displs[i] = places[i] = (int)((long long)bytes * before / shares);
    counts[i] = lengths[i] = (int)((long long)bytes * (before + i + 1) / shares) - places[i];
  }
  if (strcmp(name, "rg_gatherv") == 0)
    must(rg_gatherv(world, own, counts[rank], MPI_BYTE, all, counts, displs, MPI_BYTE, 0));
  else if (strcmp(name, "rg_scatterv") == 0)
    must(rg_scatterv(world, all, counts, displs, MPI_BYTE, own, counts[rank], MPI_BYTE, 0));
  else if (strcmp(name, "rg_allgatherv") == 0)
    must(rg_allgatherv(world, own, counts[rank], MPI_BYTE, all, counts, displs, MPI_BYTE));
  else
    MPI_Allgatherv(own, lengths[rank], MPI_BYTE, all, lengths, places, MPI_BYTE, MPI_COMM_WORLD);
  free(lengths);
  free(places);
  free(counts);
  free(displs);
  free(own);
}

static void operate(char *buffer, int bytes, int times, char **argv) {
  int n = bytes / (int)sizeof(double);
  double *sum = calloc((size_t)n + 1, sizeof *sum);
  for (int i = 0; i < times; i++) {
    if (strcmp(argv[1], "send") == 0)
      send(buffer, bytes, atoi(argv[4]), atoi(argv[5]));
    else if (strcmp(argv[1], "bcast") == 0)
      MPI_Bcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (strcmp(argv[1], "allreduce") == 0)
      MPI_Allreduce(buffer, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(argv[1], "rg_bcast") == 0)
      must(rg_bcast(world, buffer, bytes, MPI_BYTE, 0));
    else if (argv[1][strlen(argv[1]) - 1] == 'v')
      operate_uneven(buffer, bytes, argv[1]);
    else
      must(rg_allreduce(world, buffer, sum, n, MPI_DOUBLE, MPI_SUM));
  }
  free(sum);
}

/* Late acknowledgements belong to what came before. */
static void settle(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  usleep(SETTLE_MICROSECONDS);
}

static report measure(char **argv) {
  int bytes = atoi(argv[2]), times = atoi(argv[3]);
  char *buffer = calloc((size_t)bytes, 1);
  double sent, received;
  report r = {.neighbours = 0};
  gethostname(r.host, sizeof r.host - 1);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &r.neighbours);
  MPI_Comm_free(&node);
  operate(buffer, bytes, WARM_UP, argv);
  settle();
  read_counters(&sent, &received);
  MPI_Barrier(MPI_COMM_WORLD); /* no rank begins before all have read the counters */
  operate(buffer, bytes, times, argv);
  settle();
  read_counters(&r.sent, &r.received);
  r.sent = (r.sent - sent) / times;
  r.received = (r.received - received) / times;
  free(buffer);
  return r;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  must(rg_init(MPI_COMM_WORLD, NULL));
  must(rg_group_world(&world));
  report mine = measure(argv), *all = calloc((size_t)size, sizeof *all);
  MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; i++)
    printf("%s %d %.0f %.0f\n", all[i].host, all[i].neighbours, all[i].sent, all[i].received);
  free(all);
  must(rg_group_free(&world));
  must(rg_finalize());
  MPI_Finalize();
  return 0;
}
