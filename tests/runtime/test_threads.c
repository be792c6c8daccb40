/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * ranks: 2 3
 * Calls on different groups in different threads. */
#include <mpi.h>
#include <pthread.h>
#include <regroup.h>
#include <stdio.h>

#include "tests/check/check.h"

#define THREADS 3
#define TURNS 30

typedef struct {
  pthread_t thread;
  rg_group world;
  int tag, wrong;
} worker;

static int one_turn(worker *w) {
  rg_group g = NULL, part = NULL, merged = NULL;
  int size = 0, high = rgt_rank == rgt_size - 1, error;
  error = high ? rg_group_create_range(w->world, rgt_size - 1, rgt_size - 1, 1, w->tag, &g)
               : rg_group_create_range(w->world, 0, rgt_size - 2, 1, w->tag, &g);
  if (!error)
    error = rg_group_merge(g, w->world, high ? 0 : rgt_size - 1, high, w->tag, &merged);
  if (!error)
    error = rg_group_split(merged, 0, -rgt_rank, &part);
  if (!error)
    rg_group_size(part, &size);
  if (!error)
    error = rg_group_free(&part);
  rg_group_free(&merged);
  rg_group_free(&g);
  return error || size != rgt_size;
}

static void *work(void *argument) {
  worker *w = argument;
  for (int turn = 0; turn < TURNS && !w->wrong; turn++)
    w->wrong = one_turn(w);
  if (w->wrong)
    fprintf(stderr, "thread with tag %d: %s\n", w->tag, rg_error_detail());
  return NULL;
}

static void test_groups(void) {
  worker workers[THREADS];
  rg_group world;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.world = world, .tag = 40 + i};
    pthread_create(&workers[i].thread, NULL, work, &workers[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    RGT_INT(workers[i].wrong, 0);
  }
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"groups in threads", test_groups}, {NULL, NULL}};
  return rgt_main(argc, argv, "threads", tests);
}
