/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For test_preload_copies.py, which links it with libregroup: process 1 waits in MPI for a message
 * that comes late, and prints how often each of the libraries that the arguments name has paused;
 * then it waits for process 0 in a collective, and prints how often its own library has paused in
 * that. */
#include <dlfcn.h>
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <time.h>

typedef int counts_fn(int64_t *polls, int64_t *yields, int64_t *sleeps);

/* -1: the library is not loaded. */
static long long pauses(const char *library) {
  void *loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  counts_fn *counts = loaded ? (counts_fn *)dlsym(loaded, "rg_polite_counts") : NULL;
  int64_t yields = 0, sleeps = -1;
  if (counts)
    counts(NULL, &yields, &sleeps);
  return yields + sleeps;
}

static long long own_pauses(void) {
  int64_t yields = 0, sleeps = 0;
  rg_polite_counts(NULL, &yields, &sleeps);
  return yields + sleeps;
}

int main(int argc, char **argv) {
  const struct timespec late = {0, 50000000};
  int rank, got = 0;
  MPI_Init(&argc, &argv);
  rg_init(MPI_COMM_WORLD, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    nanosleep(&late, NULL);
    MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1)
    MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 1; i < argc && rank == 1; i++)
    printf("%lld\n", pauses(argv[i]));
  long long before = own_pauses();
  if (rank == 0)
    nanosleep(&late, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    printf("%lld\n", own_pauses() - before);
  rg_finalize();
  MPI_Finalize();
  return 0;
}
