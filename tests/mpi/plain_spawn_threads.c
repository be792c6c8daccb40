/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Threads that spawn at once, each on a communicator of its own, and merge with what they have
 * spawned, for test_respawn.py: plain_spawn_threads PER. Each thread spawns PER processes twice;
 * the callers are high in the second merge. Rank 0 prints "OK"; what is wrong prints "WRONG". */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "plain.h"

#ifdef MPICH

enum { THREADS = 3, ROUNDS = 2 };

static int rank, size, per;
static char *program;
static MPI_Comm comms[THREADS];

static void check(int good, const char *what, long thread) {
  if (!good)
    printf("WRONG rank %d thread %ld: %s\n", rank, thread, what);
}

/* All of both sides are this spawning's. */
static void meet(MPI_Comm inter, int high, long thread, int round) {
  MPI_Comm both;
  int n, others;
  long mine = thread * 1000 + round, sum = -1;
  MPI_Comm_size(inter, &n);
  MPI_Comm_remote_size(inter, &others);
  check(!MPI_Intercomm_merge(inter, high, &both), "MPI_Intercomm_merge", thread);
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, both);
  check(sum == mine * (n + others), "a sum", thread);
  MPI_Comm_free(&both);
  MPI_Comm_free(&inter);
}

static void *spawn(void *number) {
  const long thread = (long)number;
  char words[3][16], *argv[] = {words[0], words[1], words[2], NULL};
  MPI_Comm inter;
  snprintf(words[0], sizeof words[0], "%d", per);
  snprintf(words[1], sizeof words[1], "%ld", thread);
  for (int round = 0; round < ROUNDS; round++) {
    snprintf(words[2], sizeof words[2], "%d", round);
    int code = MPI_Comm_spawn(program, argv, per, MPI_INFO_NULL, round % size, comms[thread],
                              &inter, MPI_ERRCODES_IGNORE);
    check(code == MPI_SUCCESS, "MPI_Comm_spawn", thread);
    meet(inter, round, thread, round);
  }
  return NULL;
}

static void spawn_at_once(void) {
  pthread_t others[THREADS];
  for (int i = 0; i < THREADS; i++)
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (long i = 1; i < THREADS; i++)
    pthread_create(&others[i], NULL, spawn, (void *)i);
  spawn((void *)0);
  for (int i = 1; i < THREADS; i++)
    pthread_join(others[i], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("OK\n");
}

int main(int argc, char **argv) {
  int given;
  MPI_Comm parent;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&parent);
  program = argv[0];
  per = atoi(argv[1]);
  if (parent == MPI_COMM_NULL)
    spawn_at_once();
  else
    meet(parent, !atoi(argv[3]), atol(argv[2]), atoi(argv[3]));
  MPI_Finalize();
  return 0;
}

#else
int main(void) {
  return 0;
}
#endif
