/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in ranks. The rank holds its own robust mutex from rgi_process_open on: by the calling
 * thread where no other may call the library, else by a thread for that purpose; looking at the
 * others is process_table.c's. Its waits, for RG_PATIENCE, are times in its entry: the guard or the
 * node daemon compares them with the clock, so a wait costs three relaxed stores. */
#include "shm/process.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "shm/node.h"

/* A thread that holds a robust mutex for its process. The kernel keeps robust mutexes in a list for
 * each thread, and marks them when that thread ends, whether the process goes on or not; only the
 * thread that has locked a mutex can take it out of the list. So where any thread may start and
 * stop the library, a mutex that stands for the process is held by a thread of the library's. */
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

static void *hold_until_wanted(void *unused) {
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
  int failed = pthread_create(&holder.thread, NULL, hold_until_wanted, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}

/* By any thread: unlocks the mutex and ends the thread. */
static void stop_mutex_thread(void) {
  sem_post(&holder.wanted);
  pthread_join(holder.thread, NULL);
}

/* Starts the thread; returns when it has locked the mutex. There is one at a time. 0, or an errno:
 * then there is no thread. */
static int start_mutex_thread(pthread_mutex_t *mutex) {
  holder.mutex = mutex;
  sem_init(&holder.locked, 0, 0);
  sem_init(&holder.wanted, 0, 0);
  int failed = create_thread();
  if (failed)
    return failed;
  await_post(&holder.locked);
  failed = holder.failed;
  if (failed)
    stop_mutex_thread();
  return failed;
}

#define LOOK_SECONDS 5e-3

rgi_process_table rgi_process_view;

static enum { NOT_HELD, BY_CALLER, BY_THREAD } held; /* this rank's mutex */
static _Thread_local int reports; /* whether the waits of this thread count as the rank's */

static void raise_own(rgi_process_state to) {
  rgi_process_table_raise(&rgi_process_view, rgi_node.rank, to);
}

static int hold_mutex(pthread_mutex_t *mutex, int any_thread) {
  pthread_mutexattr_t attr;
  pthread_mutexattr_init(&attr);
  pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
  int failed = pthread_mutex_init(mutex, &attr);
  pthread_mutexattr_destroy(&attr);
  if (!failed)
    failed = any_thread ? start_mutex_thread(mutex) : pthread_mutex_lock(mutex);
  held = failed ? NOT_HELD : any_thread ? BY_THREAD : BY_CALLER;
  return failed;
}

static void release_mutex(pthread_mutex_t *mutex) {
  if (held == BY_THREAD)
    stop_mutex_thread();
  if (held == BY_CALLER)
    pthread_mutex_unlock(mutex);
  held = NOT_HELD;
}

int rgi_process_open(void *memory, int world, int any_thread) {
  rgi_process_view =
      (rgi_process_table){.n = rgi_node.n, .me = rgi_node.me, .members = rgi_node.processes};
  rgi_process_table_attach(&rgi_process_view, memory, world);
  rgi_process_entry *mine = &rgi_process_view.entry[rgi_node.me];
  int failed = hold_mutex(&mine->held, any_thread);
  mine->rank = rgi_node.rank;
  atomic_store(&mine->pid, getpid());
  raise_own(RGI_PROCESS_STARTED);
  return failed ? rgi_error(RG_ERR_SYSTEM, "rg_init: a robust mutex and a thread that holds it: %s",
                            strerror(failed))
                : RG_SUCCESS;
}

void rgi_process_close(void) {
  if (rgi_process_view.journal) {
    /* Before the mutex: without it the process is not dead. After a failed rg_init it stays
     * STARTED: its death ends the job. */
    if (rgi_process_table_state(&rgi_process_view, rgi_node.rank) >= RGI_PROCESS_READY)
      raise_own(RGI_PROCESS_LEFT);
    release_mutex(&rgi_process_view.entry[rgi_process_view.me].held);
  }
  memset(&rgi_process_view, 0, sizeof rgi_process_view);
  reports = 0;
}

/* --- deaths --------------------------------------------------------------------------- */

void (*rgi_process_look)(double now);

void rgi_process_check(double now) {
  if (!rgi_process_view.journal)
    return;
  rgi_process_table_check_each(&rgi_process_view, now, LOOK_SECONDS);
  if (rgi_process_look)
    rgi_process_look(now);
}

void rgi_process_check_now(void) {
  if (rgi_process_view.journal)
    rgi_process_table_check(&rgi_process_view);
}

int rgi_process_deaths(void) {
  return rgi_process_table_deaths(&rgi_process_view);
}

int rgi_process_death(int i) {
  return rgi_process_table_death(&rgi_process_view, i);
}

int rgi_process_is_dead(int world_rank) {
  return rgi_process_table_is_dead(&rgi_process_view, world_rank);
}

/* --- this rank's own state --------------------------------------------------------------- */

void rgi_process_ready(int reports_waits) {
  reports = reports_waits;
  raise_own(RGI_PROCESS_READY);
}

int rgi_process_all_ready(void) {
  return rgi_process_table_all_ready(&rgi_process_view);
}

void rgi_process_leave(void) {
  raise_own(RGI_PROCESS_LEFT);
  rgi_process_table_ring(&rgi_process_view);
}

int rgi_process_has_left(int place) {
  rgi_process_state s = rgi_process_table_state(&rgi_process_view, rgi_node.ranks[place]);
  return s == RGI_PROCESS_LEFT || s == RGI_PROCESS_ENDED;
}

int rgi_process_all_left(void) {
  return rgi_process_table_all_left(&rgi_process_view);
}

static void note_wait(double since, double now, int patient) {
  if (!rgi_process_view.journal || !reports)
    return;
  rgi_process_entry *mine = &rgi_process_view.entry[rgi_process_view.me];
  atomic_store_explicit(&mine->since, since, memory_order_relaxed);
  atomic_store_explicit(&mine->seen, now, memory_order_relaxed);
  atomic_store_explicit(&mine->patient, patient, memory_order_relaxed);
}

void rgi_process_note_wait(double since, double now) {
  note_wait(since, now, 0);
}

void rgi_process_note_patient_wait(double since, double now) {
  note_wait(since, now, 1);
}

void rgi_process_end_job(void) {
  atomic_store(&rgi_process_view.journal->outcome, RGI_PROCESS_JOB_DONE);
}

/* The system copies at most about 2 GiB in a call, and may copy less. */
#define MOST ((size_t)1 << 30)

int rgi_process_read_memory(pid_t pid, uint64_t address, void *to, size_t bytes) {
  char *at = to;
  while (bytes > 0) {
    size_t part = bytes < MOST ? bytes : MOST;
    struct iovec here = {at, part}, there = {(void *)(uintptr_t)address, part};
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return got < 0 ? errno : EFAULT;
    at += got;
    address += (uint64_t)got;
    bytes -= (size_t)got;
  }
  return 0;
}
