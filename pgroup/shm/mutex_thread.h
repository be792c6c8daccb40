/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A thread that holds a robust mutex for its process. The kernel keeps robust mutexes in a list for
 * each thread, and marks them when that thread ends, whether the process goes on or not; only the
 * thread that has locked a mutex can take it out of the list. So where any thread may start and
 * stop the library, a mutex that stands for the process is held by a thread of the library's. */
#ifndef RGI_MUTEX_THREAD_H
#define RGI_MUTEX_THREAD_H

#include <pthread.h>

/* Starts the thread; returns when it has locked the mutex. There is one at a time. 0, or an errno:
 * then there is no thread. */
int rgi_mutex_thread_start(pthread_mutex_t *mutex);

/* By any thread: unlocks the mutex and ends the thread. */
void rgi_mutex_thread_stop(void);

#endif
