/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's non-blocking collectives, each started and waited for at once, for
 * tests/bench/nonblocking.py: plain_nonblocking LONGEST CALLS prints "WAY OPERATION BYTES
 * MICROSECONDS" of one call for each operation, from 0 and 8 bytes on in steps of 16 times up to
 * the longest; CALLS calls of short ones. With a third argument rank 0 gives wrong data. Ways: each
 * call alone with a barrier after it, which is not timed, the mean of the ranks; calls back to
 * back, the slowest rank's. Fails where a result is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

enum { WAYS = 2, FEWEST = 4, MANY_BYTES = 1 << 20, UNTIMED = 4 };

static int rank, size, bytes, damage, *counts, *places;
static char *in, *out;
static const MPI_Comm comm = MPI_COMM_WORLD;

/* All blocks of a process are its rank + 1; so is what the root has for a process. */
enum { OF_ALL, OF_ROOT, OWN, OF_EACH, SUM_OF_ALL, NOTHING };

static int fails(const char *block, int n, int value) {
  int wrong = 0;
  for (int i = 0; i < n; i++)
    wrong |= block[i] != value;
  return wrong;
}

static int is_wrong(int result) {
  int wrong = 0, sum = size * (size + 1) / 2;
  if (result == OF_ROOT)
    return fails(in, bytes, 1);
  if (result == OWN)
    return fails(out, bytes, rank + 1);
  for (int i = 0; i < size && (result == OF_EACH || (result == OF_ALL && rank == 0)); i++)
    wrong |= fails(out + (size_t)i * (size_t)bytes, bytes, i + 1);
  if (result == SUM_OF_ALL && bytes >= 4)
    wrong = *(int *)(void *)out != sum * 0x01010101;
  return wrong;
}

#define OPERATION(name, call)                                                                      \
  static int run_##name(MPI_Request *request) {                                                    \
    return call;                                                                                   \
  }
#define B MPI_BYTE
#define INTS (bytes / (int)sizeof(int)), MPI_INT, MPI_SUM
OPERATION(barrier, MPI_Ibarrier(comm, request))
OPERATION(bcast, MPI_Ibcast(in, bytes, B, 0, comm, request))
OPERATION(gather, MPI_Igather(in, bytes, B, out, bytes, B, 0, comm, request))
OPERATION(gatherv, MPI_Igatherv(in, bytes, B, out, counts, places, B, 0, comm, request))
OPERATION(scatter, MPI_Iscatter(in, bytes, B, out, bytes, B, 0, comm, request))
OPERATION(scatterv, MPI_Iscatterv(in, counts, places, B, out, bytes, B, 0, comm, request))
OPERATION(allgather, MPI_Iallgather(in, bytes, B, out, bytes, B, comm, request))
OPERATION(allgatherv, MPI_Iallgatherv(in, bytes, B, out, counts, places, B, comm, request))
OPERATION(alltoall, MPI_Ialltoall(in, bytes, B, out, bytes, B, comm, request))
OPERATION(alltoallv, MPI_Ialltoallv(in, counts, places, B, out, counts, places, B, comm, request))
OPERATION(reduce, MPI_Ireduce(in, out, INTS, 0, comm, request))
OPERATION(allreduce, MPI_Iallreduce(in, out, INTS, comm, request))
OPERATION(reduce_scatter, MPI_Ireduce_scatter_block(in, out, INTS, comm, request))
OPERATION(scan, MPI_Iscan(in, out, INTS, comm, request))

static const struct {
  const char *name;
  int (*run)(MPI_Request *request);
  int given, result; /* in the send buffer, and afterwards */
} operations[] = {{"ibarrier", run_barrier, OWN, NOTHING},
                  {"ibcast", run_bcast, OWN, OF_ROOT},
                  {"igather", run_gather, OWN, OF_ALL},
                  {"igatherv", run_gatherv, OWN, OF_ALL},
                  {"iscatter", run_scatter, OF_EACH, OWN},
                  {"iscatterv", run_scatterv, OF_EACH, OWN},
                  {"iallgather", run_allgather, OWN, OF_EACH},
                  {"iallgatherv", run_allgatherv, OWN, OF_EACH},
                  {"ialltoall", run_alltoall, OWN, OF_EACH},
                  {"ialltoallv", run_alltoallv, OWN, OF_EACH},
                  {"ireduce", run_reduce, OWN, NOTHING},
                  {"iallreduce", run_allreduce, OWN, SUM_OF_ALL},
                  {"ireduce_scatter", run_reduce_scatter, OWN, SUM_OF_ALL},
                  {"iscan", run_scan, OWN, NOTHING}};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static void fill(int given) {
  for (int i = 0; i < size; i++) {
    memset(in + (size_t)i * (size_t)bytes, given == OWN ? rank + 1 : i + 1, (size_t)bytes);
    counts[i] = bytes;
    places[i] = i * bytes;
  }
  memset(out, 0, (size_t)size * (size_t)bytes);
  if (damage && rank == 0 && bytes > 0)
    in[0]++;
}

/* Seconds of a call on this process. */
static double time_of(int way, int operation, int calls) {
  double spent = 0, start = 0, from;
  MPI_Barrier(comm);
  for (int i = -UNTIMED; i < calls; i++) {
    MPI_Request request;
    from = MPI_Wtime();
    if (i == 0)
      start = from;
    operations[operation].run(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (way == 0) {
      spent += i >= 0 ? MPI_Wtime() - from : 0;
      MPI_Barrier(comm);
    }
  }
  return (way == 0 ? spent : MPI_Wtime() - start) / calls;
}

static int measure(int way, int operation, int shortest) {
  int calls = bytes > 1024 ? MANY_BYTES / bytes : shortest, wrong, all;
  double mine, told;
  calls = calls < FEWEST ? FEWEST : calls > shortest ? shortest : calls;
  fill(operations[operation].given);
  mine = time_of(way, operation, calls);
  wrong = is_wrong(operations[operation].result);
  MPI_Reduce(&mine, &told, 1, MPI_DOUBLE, way == 0 ? MPI_SUM : MPI_MAX, 0, comm);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, comm);
  if (rank == 0)
    printf("%s %s %d %.4f%s\n", way == 0 ? "each" : "stream", operations[operation].name, bytes,
           1e6 * told / (way == 0 ? size : 1), all ? " wrong" : "");
  return all;
}

int main(int argc, char **argv) {
  int longest = argc > 2 ? atoi(argv[1]) : 0, shortest = argc > 2 ? atoi(argv[2]) : 1, wrong = 0;
  damage = argc > 3;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  in = malloc((size_t)size * (size_t)(longest + 8));
  out = malloc((size_t)size * (size_t)(longest + 8));
  counts = malloc((size_t)size * sizeof(int));
  places = malloc((size_t)size * sizeof(int));
  for (int way = 0; way < WAYS; way++)
    for (int o = 0; o < OPERATIONS; o++)
      for (bytes = 0; bytes <= (o == 0 ? 0 : longest); bytes = bytes ? 16 * bytes : 8)
        wrong |= measure(way, o, shortest);
  free(in);
  free(out);
  free(counts);
  free(places);
  MPI_Finalize();
  return wrong;
}
