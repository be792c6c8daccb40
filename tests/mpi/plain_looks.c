/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each process looks for a message that no process sends: by looks alone, which are a wait, and by
 * looks after calls that got something done. It prints how often it has slept meanwhile. */
#include <stdio.h>
#include <sys/resource.h>

#include "plain.h"

#define SECONDS 0.1

static MPI_Win window;

static void do_nothing(void) {
}

static void flush(void) {
  MPI_Win_flush_all(window);
}

static void fetch_and_op(void) {
  long one = 1, was;
  MPI_Fetch_and_op(&one, &was, MPI_LONG, 0, 0, MPI_SUM, window);
}

static void sum(void) {
  int one = 1, all;
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static long sleeps_until_now(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return use.ru_nvcsw;
}

static void look_after(const char *name, void (*call)(void)) {
  long before = sleeps_until_now();
  int there;
  for (double end = MPI_Wtime() + SECONDS; MPI_Wtime() < end;) {
    call();
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  }
  printf("sleeps %s %ld\n", name, sleeps_until_now() - before);
}

int main(int argc, char **argv) {
  long *memory;
  MPI_Init(&argc, &argv);
  MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  look_after("nothing", do_nothing);
  look_after("flush", flush);
  look_after("fetch_and_op", fetch_and_op);
  look_after("allreduce", sum);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
