/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2
 * env: RG_OVERSUBSCRIBED=yes
 * Threads that wait at the same time sleep: that each waits for MPICH's lock between its polls,
 * which the others have, does not make each poll the first one of a wait. */
#include <mpi.h>
#include <pthread.h>
#include <regroup.h>

#include "base/clock.h"
#include "tests/check/check.h"

enum { THREADS = 3, SLEEPS = 100, YIELDS = 200000 };

static void *await_message(void *tag) {
  int x;
  MPI_Recv(&x, 1, MPI_INT, 1, *(int *)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}

/* Until they have slept often enough, or yielded so often that they do not sleep. */
static void watch(void) {
  int64_t yields, sleeps, yielded, slept;
  RGT_OK(rg_polite_counts(NULL, &yielded, &slept));
  do {
    rgi_clock_sleep(1e-3);
    RGT_OK(rg_polite_counts(NULL, &yields, &sleeps));
  } while (sleeps - slept < SLEEPS && yields - yielded < YIELDS);
  RGT_TRUE(sleeps - slept >= SLEEPS);
}

static void wait_in_threads(void) {
  pthread_t threads[THREADS];
  int tags[THREADS];
  for (int i = 0; i < THREADS; i++) {
    tags[i] = i;
    pthread_create(&threads[i], NULL, await_message, &tags[i]);
  }
  watch();
  MPI_Send(tags, 1, MPI_INT, 1, THREADS, MPI_COMM_WORLD);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

static void end_waits(void) {
  int x;
  MPI_Recv(&x, 1, MPI_INT, 0, THREADS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < THREADS; i++)
    MPI_Send(&x, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
}

static void test_threads(void) {
  int active;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_polite_active(&active));
  if (active && rgt_rank == 0)
    wait_in_threads();
  else if (active)
    end_waits();
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"threads", test_threads}, {NULL, NULL}};
  return rgt_main(argc, argv, "wait_threads", tests);
}
