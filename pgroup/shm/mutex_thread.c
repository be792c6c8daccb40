/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "shm/mutex_thread.h"

#include <semaphore.h>
#include <signal.h>

static struct {
  pthread_t thread;
  pthread_mutex_t *mutex;
  sem_t locked, wanted; /* the mutex is locked; it is to be unlocked */
  int failed;           /* an errno of the lock */
} holder;

static void await_post(sem_t *s) {
  while (sem_wait(s) != 0)
    continue;
}

static void *hold_mutex(void *unused) {
  holder.failed = pthread_mutex_lock(holder.mutex);
  sem_post(&holder.locked);
  await_post(&holder.wanted);
  if (!holder.failed)
    pthread_mutex_unlock(holder.mutex);
  return unused;
}

/* The application's signals are for its own threads. */
static int create_thread(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int failed = pthread_create(&holder.thread, NULL, hold_mutex, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}

int rgi_mutex_thread_start(pthread_mutex_t *mutex) {
  holder.mutex = mutex;
  sem_init(&holder.locked, 0, 0);
  sem_init(&holder.wanted, 0, 0);
  int failed = create_thread();
  if (failed)
    return failed;
  await_post(&holder.locked);
  failed = holder.failed;
  if (failed)
    rgi_mutex_thread_stop();
  return failed;
}

void rgi_mutex_thread_stop(void) {
  sem_post(&holder.wanted);
  pthread_join(holder.thread, NULL);
}
