/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For test_opening.py, which compiles it: opening LIBRARY CASE opens libregroup.so itself, as an
 * interpreter does, with RG_SURVIVE=1. CASE:
 *
 *     alone    before MPI and other threads: rank 1 dies, the others end by MPI's MPI_Finalize
 *     threads  when there is another thread
 *     begun    when MPI has begun
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <regroup.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIND(name) __typeof__(name) *const p_##name = (__typeof__(name) *)find(#name)

static void *library;

static void *find(const char *name) {
  void *found = library ? dlsym(library, name) : NULL;
  if (!found) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  return found;
}

static void *sleep_on(void *unused) {
  for (;;)
    pause();
  return unused;
}

static void must(int right, const char *what) {
  if (right)
    return;
  FIND(rg_error_detail);
  fprintf(stderr, "%s: %s\n", what, p_rg_error_detail());
  exit(3);
}

static int rank;

/* Whether a member has died. */
static int meet(int dies) {
  FIND(rg_init);
  FIND(rg_group_world);
  FIND(rg_barrier);
  FIND(rg_group_free);
  rg_group world;
  must(!p_rg_init(MPI_COMM_WORLD, NULL), "rg_init");
  must(!p_rg_group_world(&world), "rg_group_world");
  int error = p_rg_barrier(world); /* some may still be in it when rank 1 dies */
  if (dies && rank == 1)
    raise(SIGKILL);
  if (!error)
    error = p_rg_barrier(world);
  must(error == (dies ? RG_ERR_PROC_FAILED : RG_SUCCESS), "the last rg_barrier");
  must(!p_rg_group_free(&world), "rg_group_free");
  return error;
}

int main(int argc, char **argv) {
  pthread_t thread;
  const char *how = argc > 2 ? argv[2] : "";
  if (!strcmp(how, "threads"))
    pthread_create(&thread, NULL, sleep_on, NULL);
  if (!strcmp(how, "begun"))
    MPI_Init(&argc, &argv);
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  FIND(rg_finalize);
  if (strcmp(how, "begun") != 0)
    MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int died = meet(!strcmp(how, "alone"));
  must(!p_rg_finalize(), "rg_finalize");
  MPI_Finalize();
  printf("ENDED %d\n", died);
  return 0;
}
