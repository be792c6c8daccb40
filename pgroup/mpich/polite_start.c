/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_Init with more processes than processors. The processes of a node meet in it eight times
 * (MPICH 4.0) at a barrier that reads a word of shared memory in a loop. The loop polls nothing
 * that polite.c sees, and gives no processor away: a process that comes early keeps it to the
 * end of its time slice from those that are still to come. So a timer interrupts the thread
 * meanwhile, and the signal's handler yields.
 *
 * The signal is SIGURG: nothing happens where no handler is installed, debuggers pass it on without
 * a word, and a program that has a handler for it keeps that, and gets no timer. A system call that
 * the signal interrupts goes on (SA_RESTART), but for poll, select, epoll_wait and sleeps, none
 * of which was seen interrupted in MPI_Init. Weak: libregroup-mpi has these functions of MPI
 * itself. The call goes to the next library that has the function, for a tool may begin there. The
 * shared libregroup does not export them: a program that takes no other function from MPI would be
 * linked without MPI then (--as-needed), which libregroup-arrays needs. */
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mpich/polite.h"
#include "mpich/polite_next.h"

#define CALL __attribute__((weak, visibility("default"))) int

/* A time slice is several milliseconds. The time between two signals grows, for a process may wait
 * long for another that starts late. */
#define PERIOD_NANOSECONDS 500000
#define GROWS_AFTER 64
#define LONGEST_NANOSECONDS 20000000

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* MPI starts once, in one thread. */
static struct {
  int depth; /* a tool's MPI_Init may call the other one */
  volatile sig_atomic_t runs;
  int signals;
  timer_t timer;
  struct sigaction action; /* what to restore */
} start;

static void set_timer(void) {
  long next = PERIOD_NANOSECONDS + PERIOD_NANOSECONDS / GROWS_AFTER * (long)start.signals;
  struct itimerspec once = {.it_value.tv_nsec = next};
  timer_settime(start.timer, 0, &once, NULL);
  start.signals += next < LONGEST_NANOSECONDS;
}

static void give_away(int signal) {
  int before = errno;
  (void)signal;
  sched_yield();
  if (start.runs)
    set_timer();
  errno = before;
}

/* The program has no use of its own for the signal: neither a handler nor, blocked, a wait. */
static int is_free(void) {
  sigset_t blocked;
  return sigaction(SIGURG, NULL, &start.action) == 0 && !(start.action.sa_flags & SA_SIGINFO) &&
         (start.action.sa_handler == SIG_DFL || start.action.sa_handler == SIG_IGN) &&
         pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGURG);
}

static int make_timer(void) {
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGURG;
  event.sigev_notify_thread_id = (int)syscall(SYS_gettid);
  return timer_create(CLOCK_MONOTONIC, &event, &start.timer) == 0;
}

void rgi_mpich_start_begin(void) {
  const struct sigaction action = {.sa_handler = give_away, .sa_flags = SA_RESTART};
  if (start.depth++ > 0 || !rgi_polite_start() || !rgi_polite_gives_away() || !is_free() ||
      !make_timer())
    return;
  start.signals = 0;
  start.runs = 1;
  sigaction(SIGURG, &action, NULL);
  set_timer();
}

/* The last signal that was sent is handled here at the latest: it is not blocked. A handler that
 * was installed meanwhile stays. */
void rgi_mpich_start_end(void) {
  struct sigaction now;
  if (--start.depth > 0 || !start.runs)
    return;
  start.runs = 0;
  timer_delete(start.timer);
  if (sigaction(SIGURG, NULL, &now) == 0 && now.sa_handler == give_away)
    sigaction(SIGURG, &start.action, NULL);
}

typedef int init_fn(int *, char ***);
typedef int init_thread_fn(int *, char ***, int, int *);

CALL MPI_Init(int *argc, char ***argv) {
  init_fn *next = (init_fn *)rgi_polite_next("MPI_Init");
  rgi_mpich_start_begin();
  int error = next ? next(argc, argv) : PMPI_Init(argc, argv);
  rgi_mpich_start_end();
  return error;
}

CALL MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  init_thread_fn *next = (init_thread_fn *)rgi_polite_next("MPI_Init_thread");
  rgi_mpich_start_begin();
  int error = next ? next(argc, argv, required, provided)
                   : PMPI_Init_thread(argc, argv, required, provided);
  rgi_mpich_start_end();
  return error;
}
