/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * ranks: 2 3
 * What threads may do at the same time (runtime.h): forming groups out of one parent, collectives
 * on different groups, and messages, requests and queries on one group. */
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

/* On the group that all threads share: a ring of messages with the thread's own tag, and queries.
 */
static int use_shared_group(worker *w) {
  int next = (rgt_rank + 1) % rgt_size, before = (rgt_rank + rgt_size - 1) % rgt_size;
  int got = -1, there = 0, done = 0, size = 0, rank = -1, node = -1;
  rg_request receive, send;
  rg_status status;
  const char *name;
  int error = rg_irecv(w->world, &got, 1, MPI_INT, before, w->tag, &receive);
  if (!error)
    error = rg_isend(w->world, &w->tag, 1, MPI_INT, next, w->tag, &send);
  if (!error)
    error = rg_iprobe(w->world, RG_ANY_SOURCE, w->tag, &there, NULL);
  if (!error)
    error = rg_wait(&receive, &status);
  while (!error && !done)
    error = rg_test(&send, &done, NULL);
  rg_group_size(w->world, &size);
  rg_group_rank(w->world, &rank);
  rg_group_node(w->world, rank, &node);
  rg_group_name(w->world, &name);
  return error || got != w->tag || status.source != before || size != rgt_size ||
         rank != rgt_rank || node < 0;
}

/* On the thread's own group, which no other thread uses: collective calls. */
static int use_own_group(rg_group own) {
  int one = 1, sum = 0, later = 0, levels = 0;
  rg_group part[RG_LEVELS_MOST];
  rg_request request;
  int error = rg_iallreduce(own, &one, &later, 1, MPI_INT, MPI_SUM, &request);
  if (!error)
    error = rg_wait(&request, NULL);
  if (!error)
    error = rg_allreduce(own, &one, &sum, 1, MPI_INT, MPI_SUM);
  if (!error)
    error = rg_group_hierarchy(own, RG_LEVEL_ALL, RG_LEVELS_MOST, part, NULL, &levels);
  for (int i = 0; i < levels; i++)
    error |= rg_group_free(&part[i]);
  return error || sum != rgt_size || later != rgt_size;
}

static void *work_on_both(void *argument) {
  worker *w = argument;
  rg_group own = NULL;
  w->wrong = rg_group_create_range(w->world, 0, rgt_size - 1, 1, w->tag, &own) != RG_SUCCESS;
  for (int turn = 0; turn < TURNS && !w->wrong; turn++)
    w->wrong = use_shared_group(w) || use_own_group(own);
  if (w->wrong)
    fprintf(stderr, "thread with tag %d: %s\n", w->tag, rg_error_detail());
  rg_group_free(&own);
  return NULL;
}

static void test_one_group(void) {
  worker workers[THREADS];
  rg_group world;
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_OK(rg_group_world(&world));
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.world = world, .tag = 60 + i};
    pthread_create(&workers[i].thread, NULL, work_on_both, &workers[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    RGT_INT(workers[i].wrong, 0);
  }
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"groups in threads", test_groups}, {"one group in threads", test_one_group}, {NULL, NULL}};
  return rgt_main(argc, argv, "threads", tests);
}
