/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 3
 * The thread that calls rg_init may end before rg_finalize, and another one may call that: no
 * process is taken for dead, and nothing of the library's stays in a thread. */
#include <mpi.h>
#include <pthread.h>
#include <regroup.h>

#include "shm/process.h"
#include "tests/check/check.h"

static void *start(void *result) {
  *(int *)result = rg_init(MPI_COMM_WORLD, NULL);
  return NULL;
}

static void *stop(void *result) {
  *(int *)result = rg_finalize();
  return NULL;
}

/* In a thread that has ended on return. */
static int call_in_thread(void *(*call)(void *)) {
  pthread_t thread;
  int result = -1;
  RGT_INT(pthread_create(&thread, NULL, call, &result), 0);
  RGT_INT(pthread_join(thread, NULL), 0);
  return result;
}

/* All look at all others after all have started, and before any stops. */
static void use_library(void) {
  rg_group world;
  RGT_OK(rg_group_world(&world));
  for (int i = 0; i < 3; i++) {
    RGT_OK(rg_barrier(world));
    rgi_process_check_now();
    RGT_INT(rgi_process_deaths(), 0);
  }
  RGT_OK(rg_barrier(world));
  RGT_OK(rg_group_free(&world));
}

/* The C library writes into the neighbours of a mutex in the thread's list: also into one whose
 * memory is gone. */
static void use_own_mutex(void) {
  pthread_mutexattr_t attributes;
  pthread_mutex_t mutex;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  RGT_INT(pthread_mutex_init(&mutex, &attributes), 0);
  RGT_INT(pthread_mutex_lock(&mutex), 0);
  RGT_INT(pthread_mutex_unlock(&mutex), 0);
  pthread_mutex_destroy(&mutex);
  pthread_mutexattr_destroy(&attributes);
}

static void test_started_by_thread(void) {
  RGT_OK(call_in_thread(start));
  use_library();
  RGT_OK(rg_finalize());
}

static void test_stopped_by_thread(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  use_library();
  RGT_OK(call_in_thread(stop));
  use_own_mutex();
}

static void test_threads_only(void) {
  for (int i = 0; i < 2; i++) {
    RGT_OK(call_in_thread(start));
    use_library();
    RGT_OK(call_in_thread(stop));
    use_own_mutex();
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"started by a thread", test_started_by_thread},
                                   {"stopped by a thread", test_stopped_by_thread},
                                   {"threads only", test_threads_only},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "init_threads", tests);
}
