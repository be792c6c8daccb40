/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For test_preload_start.py: a preloaded library in whose MPI_Init a process reads a clock in a
 * loop, until it has yielded often or some time has passed. It prints how often, and at the end
 * what has become of SIGURG; in an MPI_Init of its own it prints that it begins, and with
 * START_TOOL_NESTED calls MPI_Init_thread there. With
 * START_TOOL_HANDLER the program has a handler of its own for that.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { OFTEN = 10 };

static int yields, handled;

int sched_yield(void) {
  yields++;
  return (int)syscall(SYS_sched_yield);
}

static void handle(int number) {
  (void)number;
  handled++;
}

static void __attribute__((constructor)) begin(void) {
  if (getenv("START_TOOL_HANDLER"))
    signal(SIGURG, handle);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int PMPI_Init(int *argc, char ***argv) {
  int (*next)(int *, char ***) = (int (*)(int *, char ***))dlsym(RTLD_NEXT, "PMPI_Init");
  double most = atof(getenv("START_TOOL_SECONDS")), start = now();
  int before = yields;
  while (yields - before < OFTEN && now() - start < most)
    ;
  printf("yields %d\n", yields - before);
  fflush(stdout);
  return next(argc, argv);
}

int MPI_Init(int *argc, char ***argv) {
  int provided;
  printf("tool begins\n");
  if (getenv("START_TOOL_NESTED"))
    return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
  return PMPI_Init(argc, argv);
}

int MPI_Finalize(void) {
  struct sigaction action;
  sigset_t blocked;
  sigaction(SIGURG, NULL, &action);
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  raise(SIGURG);
  printf("%s %d %d\n", action.sa_handler == SIG_DFL ? "default" : "handler", handled,
         sigismember(&blocked, SIGURG));
  return PMPI_Finalize();
}
