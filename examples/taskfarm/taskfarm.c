/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A self-scheduled task farm: how many primes are there below a million? Later tasks
 * take longer, so a fair division in advance is hard. Each member fetches its
 * next task when it is ready: first one at a time from a shared counter, then in runs
 * from a list of tasks, which takes fewer fetches. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>

#include "../common/check.h"

enum { TASKS = 1000, NUMBERS = 1000, PRIMES = 78498 };

static int is_prime(int64_t n) {
  for (int64_t i = 2; i * i <= n; i++)
    if (n % i == 0)
      return 0;
  return n > 1;
}

/* Adds the primes of one task to its element of the array of results. */
static void do_task(rg_array results, int64_t task) {
  int64_t next = task + 1, primes = 0;
  for (int64_t n = task * NUMBERS; n < next * NUMBERS; n++)
    primes += is_prime(n);
  check(rg_array_acc(results, &task, &next, &primes, NULL, NULL));
}

static int farm_with_counter(rg_group g, rg_array results) {
  rg_counter counter;
  int64_t task;
  int fetches = 1;
  check(rg_counter_create(g, &counter));
  for (check(rg_counter_next(counter, 1, &task)); task < TASKS; fetches++) {
    do_task(results, task);
    check(rg_counter_next(counter, 1, &task));
  }
  check(rg_counter_free(&counter));
  return fetches;
}

static int farm_with_list(rg_group g, rg_array results) {
  rg_tasks list;
  int64_t first, n;
  int fetches = 1;
  check(rg_tasks_create(g, TASKS, 4 /* tasks at least */, &list));
  for (check(rg_tasks_next(list, &first, &n)); n > 0; fetches++) {
    for (int64_t task = first; task < first + n; task++)
      do_task(results, task);
    check(rg_tasks_next(list, &first, &n));
  }
  check(rg_tasks_free(&list));
  return fetches;
}

/* Runs one of the two from empty results; whether the sum is right. */
static int farm(rg_group g, rg_array results, int rank, const char *name,
                int (*work)(rg_group, rg_array)) {
  int64_t primes = 0, none = 0;
  double start = MPI_Wtime();
  check(rg_array_fill(results, NULL, NULL, &none));
  int fetches = work(g, results);
  check(rg_array_sum(results, NULL, NULL, &primes));
  check(rg_allreduce(g, MPI_IN_PLACE, &fetches, 1, MPI_INT, MPI_SUM));
  if (rank == 0)
    printf("%-8s %lld primes, %4d fetches, %.3f s\n", name, (long long)primes, fetches,
           MPI_Wtime() - start);
  return primes == PRIMES;
}

int main(int argc, char **argv) {
  rg_group world;
  rg_array results;
  int rank;
  const int64_t tasks = TASKS;
  MPI_Init(&argc, &argv);
  check(rg_init(MPI_COMM_WORLD, NULL));
  check(rg_group_world(&world));
  check(rg_group_rank(world, &rank));
  check(rg_array_create_simple(world, RG_TYPE_INT64, 1, &tasks, &results));

  int right = farm(world, results, rank, "counter", farm_with_counter);
  right = farm(world, results, rank, "list", farm_with_list) && right;

  check(rg_array_free(&results));
  check(rg_group_free(&world));
  check(rg_finalize());
  MPI_Finalize();
  return right ? 0 : 1;
}
