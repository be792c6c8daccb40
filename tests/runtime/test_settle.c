/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * A process is forked when its other threads sleep: none is then in the middle of something. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/task.h"
#include "tests/check/check.h"

#define BUSY_SECONDS 0.2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stop;

/* Works with the lock taken, and then sleeps. */
static void *work(void *unused) {
  pthread_mutex_lock(&lock);
  for (double end = rgi_clock_now() + BUSY_SECONDS; rgi_clock_now() < end;)
    continue;
  pthread_mutex_unlock(&lock);
  while (!atomic_load(&stop))
    rgi_clock_sleep(1.0);
  return unused;
}

static int is_free_in_child(void) {
  int status = -1;
  pid_t child = fork();
  if (child == 0)
    _exit(pthread_mutex_trylock(&lock) != 0);
  waitpid(child, &status, 0);
  return status == 0;
}

static void test_fork(void) {
  pthread_t thread;
  atomic_store(&stop, 0);
  RGT_INT(pthread_create(&thread, NULL, work, NULL), 0);
  rgi_task_settle(60);
  RGT_TRUE(is_free_in_child());
  atomic_store(&stop, 1);
  pthread_join(thread, NULL);
}

static void *spin(void *unused) {
  while (!atomic_load(&stop))
    continue;
  return unused;
}

/* A thread that never sleeps is not waited for. */
static void test_limit(void) {
  pthread_t thread;
  atomic_store(&stop, 0);
  RGT_INT(pthread_create(&thread, NULL, spin, NULL), 0);
  rgi_task_settle(0.05);
  atomic_store(&stop, 1);
  pthread_join(thread, NULL);
}

static void test_state(void) {
  char folder[32];
  int status;
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  snprintf(folder, sizeof folder, "/proc/%d", (int)child);
  kill(child, SIGSTOP);
  waitpid(child, &status, WUNTRACED);
  RGT_INT(rgi_task_state(folder), 'T');
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  RGT_INT(rgi_task_state(folder), 0);
  RGT_INT(rgi_task_state("/proc/self"), 'R');
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"fork", test_fork}, {"limit", test_limit}, {"state", test_state}, {NULL, NULL}};
  return rgt_main(argc, argv, "settle", tests);
}
