/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Guided self-scheduling: the length of each run of tasks is what is left divided by the number of
 * members. So run i is the same for every member that might take it, and the members share only a
 * counter of runs: taking a run is one read-increment, never repeated. */
#include <pthread.h>
#include <regroup/collectives.h>
#include <regroup/task.h>
#include <stdlib.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"

struct rg_tasks_s {
  rg_counter runs;
  int64_t tasks, least;
  int members;
  pthread_mutex_t lock; /* of the caller's threads, for the two below */
  int64_t run, first;   /* a run that the caller knows, and its first task */
};

/* How many tasks the run has that starts with task first. */
static int64_t run_length(const struct rg_tasks_s *tasks, int64_t first) {
  int64_t left = tasks->tasks - first;
  int64_t share = left / tasks->members + (left % tasks->members != 0);
  int64_t n = share < tasks->least ? tasks->least : share;
  return n < left ? n : left;
}

/* All return an error if one has one, or if their arguments differ. */
static int agree_on_tasks(rg_group g, int error, int64_t tasks, int64_t least) {
  int64_t most[5] = {rgi_group_error_word(g, error), tasks, ~tasks, least, ~least};
  RGI_TRY(rg_allreduce(g, MPI_IN_PLACE, most, 5, MPI_INT64_T, MPI_MAX));
  RGI_TRY(rgi_group_error_tell(g, "rg_tasks_create", most[0], error));
  if (most[1] != ~most[2] || most[3] != ~most[4])
    return rgi_error(RG_ERR_MISMATCH,
                     "rg_tasks_create: the members were not given the same, here "
                     "%lld tasks in runs of at least %lld",
                     (long long)tasks, (long long)least);
  return RG_SUCCESS;
}

static int check_tasks(const struct rg_tasks_s *list, int64_t tasks, int64_t least) {
  if (tasks < 0 || least < 1)
    return rgi_error(RG_ERR_ARG,
                     "rg_tasks_create: %lld tasks in runs of at least %lld; there may be 0 and 1 "
                     "or more",
                     (long long)tasks, (long long)least);
  return list ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "rg_tasks_create: no memory");
}

int rg_tasks_create(rg_group g, int64_t tasks, int64_t least, rg_tasks *list) {
  RGI_REQUIRE(list);
  int members;
  RGI_TRY(rg_group_size(g, &members));
  struct rg_tasks_s *t = calloc(1, sizeof *t);
  int code = agree_on_tasks(g, check_tasks(t, tasks, least), tasks, least);
  if (code == RG_SUCCESS)
    code = rg_counter_create(g, &t->runs);
  if (code != RG_SUCCESS) {
    free(t);
    return code;
  }
  t->tasks = tasks;
  t->least = least;
  t->members = members;
  pthread_mutex_init(&t->lock, NULL);
  *list = t;
  return RG_SUCCESS;
}

int rg_tasks_free(rg_tasks *list) {
  RGI_REQUIRE(list);
  if (!*list)
    return RG_SUCCESS;
  RGI_TRY(rg_counter_free(&(*list)->runs));
  pthread_mutex_destroy(&(*list)->lock);
  free(*list);
  *list = NULL;
  return RG_SUCCESS;
}

/* Takes a run and finds its first task, from that of the last run the caller took: a process gets
 * runs in ascending order. */
static int take_run(struct rg_tasks_s *tasks) {
  int64_t run;
  RGI_TRY(rg_counter_next(tasks->runs, 1, &run));
  for (; tasks->run < run && tasks->first < tasks->tasks; tasks->run++)
    tasks->first += run_length(tasks, tasks->first);
  return RG_SUCCESS;
}

int rg_tasks_next(rg_tasks list, int64_t *first, int64_t *n) {
  RGI_REQUIRE(first);
  RGI_REQUIRE(n);
  if (!list)
    return rgi_error(RG_ERR_ARRAY, "rg_tasks_next: the list is NULL");
  pthread_mutex_lock(&list->lock);
  int code = take_run(list);
  int64_t mine = list->first;
  pthread_mutex_unlock(&list->lock);
  RGI_TRY(code);
  *first = mine;
  *n = run_length(list, mine);
  return RG_SUCCESS;
}
