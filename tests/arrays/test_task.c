/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Shared counters and lists of tasks: every number and every task goes to exactly one member,
 * whichever members are late.
 *
 * env: RG_TIMEOUT=60 */
#include <mpi.h>
#include <pthread.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { MOST = 20000 };

static rg_group world;
static int taken[MOST];

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
}

static void delay(void) {
  if (rand() % 50 == 0)
    usleep((useconds_t)(rand() % 300));
}

/* Over the members of g every number below n was taken once. */
static void all_once(rg_group g, int n) {
  int wrong = 0;
  RGT_OK(rg_allreduce(g, MPI_IN_PLACE, taken, n, MPI_INT, MPI_SUM));
  for (int i = 0; i < n; i++)
    wrong += taken[i] != 1;
  RGT_INT(wrong, 0);
}

static void count(rg_group g, rg_counter counter, int n, int step) {
  int64_t first = 0;
  memset(taken, 0, sizeof taken);
  while (first < n) {
    RGT_OK(rg_counter_next(counter, step, &first));
    RGT_INT(first % step, 0);
    for (int64_t i = first; i < first + step && i < n; i++)
      taken[i]++;
    delay();
  }
  all_once(g, n);
}

/* All take at once more than there is: who gets no numbers gets an error, and none come twice. */
static void test_counter_end(void) {
  rg_counter counter;
  int64_t first = -1, winners;
  RGT_OK(rg_counter_create(world, &counter));
  winners = rg_counter_next(counter, INT64_MAX - 10, &first) == RG_SUCCESS;
  RGT_INT(first, winners ? 0 : -1);
  MPI_Allreduce(MPI_IN_PLACE, &winners, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(winners, 1);
  RGT_FAILS(rg_counter_next(counter, 11, &first), RG_ERR_LIMIT);
  RGT_FAILS(rg_counter_next(counter, INT64_MAX, &first), RG_ERR_LIMIT);
  RGT_OK(rg_barrier(world));
  if (rgt_rank == 0) {
    RGT_OK(rg_counter_next(counter, 10, &first));
    RGT_INT(first, INT64_MAX - 10);
    RGT_FAILS(rg_counter_next(counter, 1, &first), RG_ERR_LIMIT);
  }
  RGT_OK(rg_counter_free(&counter));
}

static void test_counter(void) {
  rg_counter counter;
  srand((unsigned)rgt_seed() + (unsigned)rgt_rank);
  RGT_OK(rg_counter_create(world, &counter));
  count(world, counter, MOST, 1);
  RGT_OK(rg_counter_reset(counter));
  count(world, counter, MOST, 3);
  RGT_OK(rg_counter_reset(counter));
  count(world, counter, MOST, MOST + 1);
  RGT_OK(rg_counter_free(&counter));
  RGT_PTR_NULL(counter);
  RGT_OK(rg_counter_free(&counter));
}

/* Each member's runs ascend; the lengths are as promised. */
static void work(rg_group g, rg_tasks list, int tasks, int least) {
  int64_t first, n, last = -1;
  int size, runs = 0;
  RGT_OK(rg_group_size(g, &size));
  memset(taken, 0, sizeof taken);
  for (;;) {
    RGT_OK(rg_tasks_next(list, &first, &n));
    if (n == 0)
      break;
    RGT_TRUE(first > last && first + n <= tasks);
    RGT_TRUE(n >= least || first + n == tasks);
    RGT_TRUE(n <= least || n * size < tasks - first + size);
    last = first;
    runs++;
    for (int64_t i = first; i < first + n; i++)
      taken[i]++;
    delay();
  }
  RGT_OK(rg_tasks_next(list, &first, &n));
  RGT_INT(first, tasks);
  RGT_INT(n, 0);
  all_once(g, tasks);
  RGT_OK(rg_allreduce(g, MPI_IN_PLACE, &runs, 1, MPI_INT, MPI_SUM));
  if (size == 1)
    RGT_INT(runs, tasks > 0);
}

static void test_tasks(void) {
  static const int tasks[] = {0, 1, 2, 5, 17, 1000, MOST}, least[] = {1, 2, 10, 5000};
  srand((unsigned)rgt_seed() + (unsigned)rgt_rank);
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 4; j++) {
      rg_tasks list;
      RGT_OK(rg_tasks_create(world, tasks[i], least[j], &list));
      work(world, list, tasks[i], least[j]);
      RGT_OK(rg_tasks_free(&list));
      RGT_PTR_NULL(list);
    }
}

/* Two teams, each with a list of its own, at the same time. */
static void test_teams(void) {
  rg_group team;
  rg_tasks list;
  RGT_OK(rg_group_split(world, rgt_rank % 2, 0, &team));
  RGT_OK(rg_tasks_create(team, 5000 + rgt_rank % 2, 2, &list));
  work(team, list, 5000 + rgt_rank % 2, 2);
  RGT_OK(rg_tasks_free(&list));
  RGT_OK(rg_group_free(&team));
}

/* --- threads ------------------------------------------------------------------------ */

static void *work_in_thread(void *list) {
  int64_t first, n;
  for (;;) {
    if (rg_tasks_next(list, &first, &n) != RG_SUCCESS || n == 0)
      return NULL;
    for (int64_t i = first; i < first + n; i++)
      __atomic_fetch_add(&taken[i], 1, __ATOMIC_RELAXED);
  }
}

static void test_threads(void) {
  pthread_t threads[3];
  rg_tasks list;
  memset(taken, 0, sizeof taken);
  RGT_OK(rg_tasks_create(world, MOST, 1, &list));
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, work_in_thread, list);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  all_once(world, MOST);
  RGT_OK(rg_tasks_free(&list));
}

static void test_errors(void) {
  rg_counter counter = NULL;
  rg_tasks list = NULL;
  int64_t first = 7, n = 7;
  RGT_FAILS(rg_counter_next(NULL, 1, &first), RG_ERR_ARRAY);
  RGT_FAILS(rg_counter_reset(NULL), RG_ERR_ARRAY);
  RGT_FAILS(rg_counter_create(NULL, &counter), RG_ERR_GROUP);
  RGT_FAILS(rg_counter_create(world, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_tasks_next(NULL, &first, &n), RG_ERR_ARRAY);
  RGT_FAILS(rg_tasks_create(world, -1, 1, &list), RG_ERR_ARG);
  RGT_FAILS(rg_tasks_create(world, 1, 0, &list), RG_ERR_ARG);
  RGT_FAILS(rg_tasks_create(NULL, 1, 1, &list), RG_ERR_GROUP);
  RGT_FAILS(rg_tasks_create(world, rgt_rank ? 5 : -5, 1, &list), RG_ERR_ARG);
  if (rgt_size > 1)
    RGT_FAILS(rg_tasks_create(world, 5, 1 + (rgt_rank == 1), &list), RG_ERR_MISMATCH);
  RGT_PTR_NULL(counter);
  RGT_PTR_NULL(list);
  RGT_OK(rg_counter_create(world, &counter));
  RGT_FAILS(rg_counter_next(counter, 0, &first), RG_ERR_ARG);
  RGT_FAILS(rg_counter_next(counter, 1, NULL), RG_ERR_ARG);
  RGT_INT(first, 7);
  RGT_OK(rg_counter_free(&counter));
}

static void test_end(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"every number once", test_counter},
                                   {"the end of a counter", test_counter_end},
                                   {"every task once", test_tasks},
                                   {"teams with lists of their own", test_teams},
                                   {"threads", test_threads},
                                   {"wrong calls", test_errors},
                                   {"end", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "task", tests);
}
