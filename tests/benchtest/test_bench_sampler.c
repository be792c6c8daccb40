/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The benchmark's sampler: order, slowest rank, mean of the ranks, messages, when it stops.
 * ranks: 1 2 3 4 7
 * sources: tests/bench/sampler.c tests/bench/start.c tests/bench/stats.c tests/bench/counters.c */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "tests/bench/counters.h"
#include "tests/bench/sampler.h"

#define LOG 400

/* The contenders that ran on this rank, in order. */
static struct { int n, contender[LOG]; } ran;

typedef struct {
  int me, sleep_us, messages, fail_at, calls, finished;
  double spent; /* above 0: the contender times itself */
} context;

static const char *run(void *p) {
  context *c = p;
  int got, right = (rgt_rank + 1) % rgt_size, left = (rgt_rank + rgt_size - 1) % rgt_size;
  if (ran.n < LOG)
    ran.contender[ran.n++] = c->me;
  usleep((useconds_t)c->sleep_us);
  for (int i = 0; i < c->messages; i++)
    MPI_Sendrecv(&i, 1, MPI_INT, right, 5, &got, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  return ++c->calls == c->fail_at ? "broken on purpose" : NULL;
}

static const char *finish(void *p) {
  ((context *)p)->finished++;
  return NULL;
}

static int measure(bench_plan plan, int n, context c[], const int takes_part[],
                   bench_measured measureds[]) {
  bench_contender list[4];
  ran.n = 0;
  for (int i = 0; i < n; i++) {
    c[i].me = i;
    list[i] = (bench_contender){.name = "test",
                                .takes_part = takes_part[i],
                                .run = run,
                                .finish = finish,
                                .context = &c[i],
                                .batch = c[i].spent > 0 ? 4 : 1,
                                .spent = c[i].spent > 0 ? &c[i].spent : NULL};
  }
  return bench_measure(MPI_COMM_WORLD, &plan, n, list, measureds);
}

/* Repetition r begins with contender r mod n; all run equally often. */
static void test_rotation(void) {
  context c[3] = {{0}};
  bench_measured m[3];
  RGT_TRUE(measure((bench_plan){.warmup = 2, .reps = 7, .seconds = 60}, 3, c, (int[]){1, 1, 1}, m));
  RGT_INT(ran.n, 3 * (2 + 7));
  for (int i = 0; i < ran.n; i++)
    RGT_INT(ran.contender[i], (i + i / 3) % 3);
  for (int i = 0; i < 3; i++) {
    RGT_INT(c[i].finished, 9);
    if (rgt_rank == 0)
      RGT_INT(m[i].seconds.n, 7);
  }
}

/* The time is the slowest rank's; ranks that take no part never run. */
static void test_slowest(void) {
  context c[2] = {{.sleep_us = 2000 * (rgt_rank + 1)}, {.sleep_us = 500}};
  bench_measured m[2];
  int takes_part[2] = {1, rgt_rank == 0};
  RGT_TRUE(measure((bench_plan){.reps = 5, .seconds = 60}, 2, c, takes_part, m));
  RGT_INT(c[1].calls, rgt_rank == 0 ? 5 : 0);
  RGT_INT(c[1].finished, c[1].calls);
  if (rgt_rank == 0) {
    RGT_TRUE(m[0].seconds.min >= 2e-3 * rgt_size);
    RGT_TRUE(m[1].seconds.min >= 5e-4);
  }
}

/* A contender that times itself: the mean of the ranks that take part, for one of its calls. */
static void test_spent(void) {
  int takes_part[3] = {1, rgt_rank != 1, 1};
  double mean[2] = {0.5 * (rgt_size + 1), 0}, some = rgt_size > 1 ? rgt_size - 1 : 1;
  context c[3] = {{.spent = 4.0 * (rgt_rank + 1)},
                  {.spent = 4.0 * (rgt_rank + 1)},
                  {.sleep_us = rgt_rank == 0 ? 3000 : 0}};
  bench_measured m[3];
  for (int r = 0; r < rgt_size; r++)
    mean[1] += r == 1 ? 0 : (r + 1) / some;
  RGT_TRUE(measure((bench_plan){.reps = 3, .seconds = 60}, 3, c, takes_part, m));
  for (int i = 0; i < 2 && rgt_rank == 0; i++) {
    RGT_TRUE(m[i].seconds.min > mean[i] * (1 - 1e-12));
    RGT_TRUE(m[i].seconds.max < mean[i] * (1 + 1e-12));
  }
  if (rgt_rank == 0)
    RGT_TRUE(m[2].seconds.min >= 3e-3); /* the slowest, beside them */
}

static void test_messages(void) {
  context c[2] = {{.messages = 3}, {0}};
  bench_measured m[2];
  int counted = bench_messages_counted(MPI_COMM_WORLD);
  RGT_TRUE(measure((bench_plan){.warmup = 1, .reps = 6, .seconds = 60}, 2, c, (int[]){1, 1}, m));
  if (rgt_rank == 0 && counted) {
    RGT_INT(m[0].messages, 3 * rgt_size);
    RGT_INT(m[0].messages_most, 3 * rgt_size);
    RGT_INT(m[1].messages, 0);
    RGT_INT(m[1].messages_most, 0);
  }
  if (rgt_size == 1)
    RGT_INT(counted, 0);
}

static void test_stops(void) {
  context c[1] = {{.sleep_us = 4000}};
  bench_measured m[1];
  /* Each run takes 4 ms or more: about precise, by any standard, after 10. */
  RGT_TRUE(measure((bench_plan){.reps = 90, .seconds = 60, .precision = 100}, 1, c, (int[]){1}, m));
  RGT_INT(c[0].calls, 10);
  c[0].calls = 0; /* never precise enough: the time limit */
  RGT_TRUE(measure((bench_plan){.reps = 90, .seconds = 0.1}, 1, c, (int[]){1}, m));
  RGT_TRUE(c[0].calls >= 1 && c[0].calls <= 25);
  c[0].calls = 0; /* no time at all: one run that counts, after the warm-up */
  RGT_TRUE(measure((bench_plan){.warmup = 2, .reps = 90, .seconds = 1e-9}, 1, c, (int[]){1}, m));
  RGT_INT(c[0].calls, 3);
}

/* One rank fails: all hear of it, and the next measurement works. */
static void test_failure(void) {
  context c[2] = {{0}, {.fail_at = rgt_rank == rgt_size - 1 ? 4 : 0}};
  bench_measured m[2];
  RGT_INT(measure((bench_plan){.reps = 20, .seconds = 60}, 2, c, (int[]){1, 1}, m), 0);
  RGT_INT(c[1].calls, 4);
  RGT_TRUE(measure((bench_plan){.reps = 2, .seconds = 60}, 2, c, (int[]){1, 1}, m));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"rotation", test_rotation},
                                   {"slowest rank", test_slowest},
                                   {"mean of the ranks", test_spent},
                                   {"messages", test_messages},
                                   {"when it stops", test_stops},
                                   {"failure", test_failure},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "bench_sampler", tests);
}
