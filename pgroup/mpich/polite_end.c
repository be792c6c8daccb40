/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The last bytes of a process. MPI_Send returns when UCX has taken the message. The end of it may
 * still be in UCX's own buffer, since the receiver is slow and the socket is full. MPI_Finalize
 * flushes the connections and then waits, without polling UCX, in a barrier of the launcher until
 * all processes have come so far. The flush hangs over TCP (polite.c), so it is left out. What is
 * in UCX's buffers is sent by a thread instead, which polls UCX's workers while MPI_Finalize waits.
 * A process comes to the barrier when it has received all that it wants. So nothing is left to send
 * when the barrier has ended and the workers are destroyed.
 *
 * What no process has received is then still UCX's: a long message that is being sent holds its
 * memory registered. UCX 1.18 ends the process where its context is destroyed nevertheless. So the
 * context stays, and the kernel frees it when the process ends.
 *
 * Without memory or permission for a thread nobody polls. */
#include "mpich/polite_end.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/pause.h"
#include "mpich/polite_next.h"

#define NO_SUCH_FUNCTION (-22) /* UCX's error UCS_ERR_UNSUPPORTED */

/* MPICH has one for each of its virtual interfaces. */
#define MOST_WORKERS 64

#define EXPORT __attribute__((visibility("default")))

/* What a worker's creator asks for: the first members of UCX's ucp_worker_params_t, which are part
 * of UCX's binary interface. */
typedef struct {
  uint64_t fields; /* which members are set */
  int thread_mode;
} worker_params;

#define FIELD_THREAD_MODE 1
#define SINGLE 0     /* only the thread that has used it first may use it */
#define SERIALIZED 1 /* any thread, one at a time */

EXPORT int ucp_worker_create(void *context, worker_params *params, void **worker);
EXPORT void ucp_worker_destroy(void *worker);
EXPORT void ucp_cleanup(void *context);

typedef int create_fn(void *, worker_params *, void **);
typedef void destroy_fn(void *);

static struct {
  atomic_int once;      /* whether it has ever begun */
  pthread_mutex_t lock; /* held during each poll: a worker is polled by one thread at a time */
  rgi_polite_end_progress *progress;
  void *workers[MOST_WORKERS];
  int n;
  pthread_t thread;
  int runs;
} end = {.lock = PTHREAD_MUTEX_INITIALIZER};

atomic_int rgi_polite_end_now;

void rgi_polite_end_begin(void) {
  atomic_store(&rgi_polite_end_now, 1);
  atomic_store(&end.once, 1);
}

/* -1: there are no workers any more. */
static int poll_workers(void) {
  unsigned done = 0;
  pthread_mutex_lock(&end.lock);
  for (int i = 0; i < end.n; i++)
    done += end.progress(end.workers[i]);
  int left = end.n;
  pthread_mutex_unlock(&end.lock);
  return left == 0 ? -1 : done > 0;
}

static void *serve_workers(void *unused) {
  rgi_pause pause = {0};
  for (int moved; (moved = poll_workers()) >= 0;) {
    if (moved)
      pause = (rgi_pause){0};
    else
      rgi_pause_step(&pause, RGI_PAUSE_AUTO, 0);
  }
  return unused;
}

/* The application's signal handlers do not run in this thread. */
static void start_thread(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  end.runs = pthread_create(&end.thread, NULL, serve_workers, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int find_worker(const void *worker) {
  int i = 0;
  while (i < end.n && end.workers[i] != worker)
    i++;
  return i;
}

unsigned rgi_polite_end_poll(rgi_polite_end_progress *progress, void *worker) {
  pthread_mutex_lock(&end.lock);
  int i = find_worker(worker);
  if (i == end.n && i < MOST_WORKERS) {
    end.progress = progress;
    end.workers[end.n++] = worker;
    if (!end.runs)
      start_thread();
  }
  unsigned done = progress(worker);
  pthread_mutex_unlock(&end.lock);
  return done;
}

/* Removes the worker. The thread ends with the last one. */
static void leave_worker(const void *worker) {
  pthread_mutex_lock(&end.lock);
  int i = find_worker(worker);
  if (i < end.n)
    end.workers[i] = end.workers[--end.n];
  int over = end.n == 0;
  pthread_mutex_unlock(&end.lock);
  if (!over)
    return;
  if (end.runs)
    pthread_join(end.thread, NULL);
  end.runs = 0;
  atomic_store(&rgi_polite_end_now, 0); /* MPI may be initialized once more */
}

/* UCX 1.17 and later abort the process where another thread polls a worker that is for a single
 * thread. */
int ucp_worker_create(void *context, worker_params *params, void **worker) {
  create_fn *next = (create_fn *)rgi_polite_next("ucp_worker_create");
  if (!next)
    return NO_SUCH_FUNCTION;
  worker_params asked = *params;
  if (!(asked.fields & FIELD_THREAD_MODE) || asked.thread_mode == SINGLE) {
    params->fields |= FIELD_THREAD_MODE;
    params->thread_mode = SERIALIZED;
  }
  int status = next(context, params, worker);
  params->fields = asked.fields;
  params->thread_mode = asked.thread_mode;
  return status;
}

void ucp_worker_destroy(void *worker) {
  static _Atomic(destroy_fn *) real;
  destroy_fn *next = atomic_load(&real);
  if (rgi_polite_end_begun())
    leave_worker(worker);
  if (!next) {
    next = (destroy_fn *)rgi_polite_next("ucp_worker_destroy");
    atomic_store(&real, next);
  }
  if (next)
    next(worker);
}

void ucp_cleanup(void *context) {
  destroy_fn *next = atomic_load(&end.once) ? NULL : (destroy_fn *)rgi_polite_next("ucp_cleanup");
  if (next)
    next(context);
}
