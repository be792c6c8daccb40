/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How long the calls of MPI's fault-tolerance extension take, for fault_times.py: plain_fault_times
 * CALLS prints "TIME name microseconds", the median of the calls, each the longest of all members.
 * In the end the last rank kills itself while all are in MPI_Allreduce. All processes have one
 * clock. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "plain.h"

#ifdef MPIX_ERR_REVOKED

enum { MOST = 100000 };

static int me, n, calls;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The median of the longest times. */
static void tell(const char *name, double took[], int count, MPI_Comm comm) {
  static double longest[MOST];
  MPI_Reduce(took, longest, count, MPI_DOUBLE, MPI_MAX, 0, comm);
  if (me == 0)
    printf("TIME %s %.2f\n", name, 1e6 * plain_median(longest, count));
}

/* --- without a death ------------------------------------------------------------------------- */

static void barrier(MPI_Comm *made) {
  (void)made;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void agree(MPI_Comm *made) {
  int flag = 1;
  (void)made;
  MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
}

static void create(MPI_Comm *made) {
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_create_group(MPI_COMM_WORLD, all, 0, made);
  MPI_Group_free(&all);
}

static void shrink(MPI_Comm *made) {
  MPIX_Comm_shrink(MPI_COMM_WORLD, made);
}

static void measure(const char *name, void (*call)(MPI_Comm *made), int count) {
  static double took[MOST];
  for (int i = 0; i < count; i++) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    double began = now();
    call(&made);
    took[i] = now() - began;
    if (made != MPI_COMM_NULL)
      MPI_Comm_free(&made);
  }
  tell(name, took, count, MPI_COMM_WORLD);
}

/* From the call until the others' collective returns. */
static void measure_revocation(int count) {
  static double took[MOST];
  for (int i = 0; i < count; i++) {
    MPI_Comm made;
    double one = 1, sum = 0, began = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, made);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == n - 1) {
      nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
      began = now();
      MPIX_Comm_revoke(made);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, made);
    double ended = now();
    MPI_Bcast(&began, 1, MPI_DOUBLE, n - 1, MPI_COMM_WORLD);
    took[i] = ended - began;
    MPI_Comm_free(&made);
  }
  tell("revoke", took, count, MPI_COMM_WORLD);
}

/* --- with a death ---------------------------------------------------------------------------- */

static void sleep_until(double when) {
  struct timespec t = {.tv_sec = (time_t)when};
  t.tv_nsec = (long)(1e9 * (when - (double)t.tv_sec));
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
    continue;
}

static void measure_death(void) {
  MPI_Comm left;
  double one = 1, sum, when = now() + 0.05, took[3];
  int flag = 1;
  MPI_Bcast(&when, 1, MPI_DOUBLE, n - 1, MPI_COMM_WORLD);
  if (me == n - 1) {
    sleep_until(when);
    raise(SIGKILL);
  }
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  took[0] = now() - when;
  sleep_until(when + 0.5); /* all know */
  double began = now();
  MPIX_Comm_shrink(MPI_COMM_WORLD, &left);
  took[1] = now() - began;
  MPIX_Comm_failure_ack(MPI_COMM_WORLD);
  MPI_Barrier(left);
  began = now();
  MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
  took[2] = now() - began;
  tell("death", &took[0], 1, left);
  tell("shrink-after", &took[1], 1, left);
  tell("agree-after", &took[2], 1, left);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  calls = argc > 1 ? atoi(argv[1]) : 200;
  if (calls < 1 || calls > MOST)
    MPI_Abort(MPI_COMM_WORLD, 2);
  measure("barrier", barrier, calls);
  measure("agree", agree, calls);
  measure("create", create, calls);
  measure("shrink", shrink, calls);
  measure_revocation(calls / 10 + 1);
  measure_death();
  MPI_Finalize();
  return 0;
}

#else
int main(void) {
  return 0;
}
#endif
