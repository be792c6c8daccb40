/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Threads that each use a communicator of their own, of the same processes, and come to
 * them for the first time in an order that differs from process to process. */
#include <pthread.h>

#include "plain.h"

#define THREADS 3
#define ROUNDS 30

static MPI_Comm comms[THREADS];
static long long results[THREADS];

static void *work(void *argument) {
  MPI_Comm *comm = argument;
  long long mine = comm - comms, sum, rank;
  int r, size;
  MPI_Comm_rank(*comm, &r);
  MPI_Comm_size(*comm, &size);
  rank = r;
  for (int i = 0; i < ROUNDS; i++) {
    long long x = rank + mine * 1000 + i;
    MPI_Allreduce(&x, &sum, 1, MPI_LONG_LONG, MPI_SUM, *comm);
    results[mine] = (long long)((unsigned long long)results[mine] * 31 + (unsigned long long)sum);
    MPI_Bcast(&results[mine], 1, MPI_LONG_LONG, i % size, *comm);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  int level, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  plain_number("level", level == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < THREADS; i++)
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[(rank + i) % THREADS], NULL, work, &comms[(rank + i) % THREADS]);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) {
    plain_number("sum", results[i]);
    MPI_Comm_free(&comms[i]);
  }
  MPI_Finalize();
  return 0;
}
