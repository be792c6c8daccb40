/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * ranks: 2 3 4 7
 * Several threads create communicators of the same processes at the same time,
 * with different tags. */
#include <pthread.h>
#include <stdio.h>

#include "comm_cases.h"

#define THREADS 3
#define TURNS 25

typedef struct {
  int tag, wrong;
  rg_comm_method method;
  pthread_t thread;
} worker;

/* Checks are made by the main thread: CUnit knows one thread only. */
static void *work(void *argument) {
  worker *w = argument;
  int ranks[RANKS_MOST], n = 0;
  /* Each thread has its own order, so that different pairs of ranks are in the call at a time. */
  for (int i = 0; i < rgt_size; i++)
    ranks[n++] = w->tag % 2 ? rgt_size - 1 - i : i;
  MPI_Group group = group_of(n, ranks);
  for (int turn = 0; turn < TURNS; turn++) {
    MPI_Comm comm;
    int rank, sum = 0;
    if (rg_comm_create_group(MPI_COMM_WORLD, group, w->tag, w->method, &comm)) {
      fprintf(stderr, "thread with tag %d, turn %d: %s\n", w->tag, turn, rg_error_detail());
      w->wrong++;
      break;
    }
    MPI_Comm_rank(comm, &rank);
    int mine = rank == place_of(n, ranks, rgt_rank) ? w->tag : -1000;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    w->wrong += sum != w->tag * rgt_size;
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&group);
  return NULL;
}

static void run(rg_comm_method method) {
  worker workers[THREADS];
  int level;
  MPI_Query_thread(&level);
  RGT_INT(level, MPI_THREAD_MULTIPLE);
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.tag = 20 + i, .method = method};
    pthread_create(&workers[i].thread, NULL, work, &workers[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    RGT_INT(workers[i].wrong, 0);
  }
}

static void test_recursive(void) {
  run(RG_METHOD_RECURSIVE);
}

static void test_native(void) {
  run(RG_METHOD_NATIVE);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"recursive", test_recursive}, {"native", test_native}, {NULL, NULL}};
  return rgt_main(argc, argv, "comm_threads", tests);
}
