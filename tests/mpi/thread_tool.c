/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For test_opening.py: a library that starts a thread before all others are initialised (it is
 * linked with -z initfirst). The thread stays in the guard, and blocks no signal. */
#include <pthread.h>
#include <unistd.h>

static void *sleep_on(void *unused) {
  for (;;)
    pause();
  return unused;
}

__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, sleep_on, NULL);
}
