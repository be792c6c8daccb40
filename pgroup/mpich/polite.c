/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Polite waiting inside MPI: see include/regroup/polite.h.
 *
 * MPICH (ch4:ucx) polls UCX by ucp_worker_progress, which returns 0 when it found
 * nothing to do. This file defines that function as well and is looked up before UCX: it calls
 * UCX's, and after each of several polls in vain in a row it does one step of a polite wait
 * (base/pause.h). MPICH over libfabric: polite_ofi.c. The files polite*.c are linked into
 * libregroup and are libregroup-polite.so by themselves, so they need nothing else of the library.
 */
#include <dlfcn.h>
#include <regroup/polite.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/cgroup.h"
#include "base/launcher.h"
#include "base/option_table.h"
#include "base/pause.h"
#include "base/processors.h"
#include "mpich/polite.h"
#include "mpich/polite_end.h"
#include "mpich/polite_next.h"

#define EXPORT __attribute__((visibility("default")))

/* The file by itself has no texts of errors. */
#pragma weak rg_error_set

/* Polls further apart than this do not belong to one wait: a program that looks
 * for a message now and then, between pieces of work, must not be slowed. */
#define GAP_SECONDS 20e-6
/* So many polls of a row, less than a microsecond, do nothing but poll: many calls of MPI poll once
 * or twice in vain and return. */
#define FREE_POLLS 4
/* Of looks that do not pause, one of so many asks for the time, so that a wait is reported. */
#define FREE_LOOKS 64
/* Shorter waits are not reported: a report costs a system call. */
#define REPORT_SECONDS 20e-3

EXPORT unsigned ucp_worker_progress(void *worker);
EXPORT void *ucp_disconnect_nb(void *endpoint);
EXPORT void ucp_request_release(void *request);
EXPORT double rgi_polite_since(double now);
EXPORT int rgi_polite_polls(void);
EXPORT void rgi_polite_report_to(void (*report)(double since, double now));

/* By their own names shared libraries get the functions of the first copy of this file; these are
 * the functions of this copy. */
#define OF_THIS_COPY(function)                                                                     \
  extern __attribute__((visibility("hidden"))) __typeof__(function) own_##function                 \
      __attribute__((alias(#function)))
OF_THIS_COPY(ucp_worker_progress);
OF_THIS_COPY(rgi_polite_since);
OF_THIS_COPY(rgi_polite_polls);
OF_THIS_COPY(rgi_polite_report_to);

typedef double since_fn(double);
typedef int polls_fn(void);
typedef void report_fn(double, double);
typedef void report_to_fn(report_fn *);
typedef rgi_polite_end_progress progress_fn;
typedef void *disconnect_fn(void *);
typedef void release_fn(void *);

/* Variables of a function and of those that it was called by lie so close to it on the stack. */
#define NEAR_BYTES 1024

enum { SEEN = 1, UNSEEN };

static struct {
  _Atomic(progress_fn *) progress;
  since_fn *other;         /* rgi_polite_since of another copy of this file, or NULL */
  polls_fn *other_polls;   /* its rgi_polite_polls */
  report_fn *other_report; /* for waits that the other copy does not see */
  int on, spare, kind;
  int unseen;      /* rgi_polite_expect_unseen */
  atomic_int seen; /* a poll: of a transport that moves all messages, or of one that does not */
  atomic_ulong polls, yields, sleeps;
  atomic_uint moves;           /* polls of any thread that have found something */
  _Atomic(const void *) first; /* the thread that has started MPI, or polled first */
  atomic_int several;          /* others have polled: threads may wait for MPICH's lock */
} polite;

static RGI_MPICH_THREAD struct {
  rgi_pause pause;
  double last;         /* when the last poll in vain returned */
  int polling;         /* depth of rg_polite_polling */
  int begun;           /* this row has polls that were not free */
  int unseen;          /* polls of this row that did not pause: rgi_polite_unseen */
  unsigned served;     /* rgi_mpich_served at the last pause */
  unsigned long polls; /* in vain, that polite.polls has not yet */
  unsigned long free;  /* the value of polls up to which a poll does not pause */
  unsigned long moves;
  double since; /* the first of the polls in vain; gaps without a processor do not end the row */
  struct rusage use;  /* at the last report */
  int asked;          /* another copy reports this one's waits */
  unsigned all_moves; /* polite.moves at the last pause */
  double processor;   /* the thread's time of a processor then; 0: it was the only one */
} mine;

void (*rgi_mpich_waits)(double since, double now);
RGI_MPICH_THREAD void (*rgi_mpich_polled)(void);
RGI_MPICH_THREAD double rgi_mpich_own_wait;
RGI_MPICH_THREAD unsigned rgi_mpich_served;
RGI_MPICH_THREAD int rgi_polite_looking, rgi_mpich_still;

unsigned long rgi_mpich_moves(void) {
  return mine.moves + (unsigned)polite.unseen;
}

static inline void end_row(void) {
  mine.free = polite.on ? mine.polls + FREE_POLLS : 0;
  mine.unseen = 0;
  if (mine.begun) {
    mine.pause = (rgi_pause){0};
    mine.since = 0;
    mine.begun = 0;
  }
}

void rgi_mpich_end_row(void) {
  end_row();
}

/* The number of an option's word; of the built-in one where the environment has a wrong value,
 * which is an error of rg_init. */
static int choice(rgi_options_id id) {
  int number = rgi_option_word(id, rgi_option_text(id));
  return number >= 0 ? number : rgi_option_word(id, rgi_option_table[id].builtin);
}

/* Where there is no rg_init. */
static void tell_wrong_options(void) {
  static const rgi_options_id read_here[] = {RGI_OPT_POLITE, RGI_OPT_WAIT, RGI_OPT_OVERSUBSCRIBED};
  static atomic_flag told = ATOMIC_FLAG_INIT;
  if (rg_error_set || atomic_flag_test_and_set(&told) || rgi_launcher_number("PMI_RANK") > 0)
    return;
  for (size_t i = 0; i < sizeof read_here / sizeof *read_here; i++) {
    const rgi_option_row *row = &rgi_option_table[read_here[i]];
    const char *text = rgi_option_text(read_here[i]);
    if (rgi_option_word(read_here[i], text) < 0)
      fprintf(stderr, "regroup: %s=%.60s (from environment): expected %s; %s is used\n", row->name,
              text, row->values, row->builtin);
  }
}

/* Before MPI has started only the launcher knows how many ranks share the node. They may also share
 * a control group, and its limit of processor time. */
static int spare_processor(void) {
  rgi_processors set;
  int ranks = rgi_launcher_local_ranks();
  int oversubscribed = choice(RGI_OPT_OVERSUBSCRIBED);
  if (oversubscribed)
    return oversubscribed == 2;
  int64_t quota = rgi_cgroup_processors("").processors;
  return ranks <= rgi_processors_mine(&set) && (!quota || ranks <= quota);
}

/* A preloaded library and a program that is linked with libregroup have a copy of this file each.
 * The program's copy knows where to report waits, the other one may know of them: it pauses in
 * MPI's, or has waits of its own. What a program exports comes before all libraries. */
static void *find_other(const char *function, void *own) {
  void *found = dlsym(RTLD_DEFAULT, function);
  return found == own ? dlsym(RTLD_NEXT, function) : found;
}

static void report_own(double since, double now) {
  if (rgi_mpich_waits)
    rgi_mpich_waits(since, now);
}

/* Called by the copy that does not see polls of libfabric. */
void rgi_polite_report_to(report_fn *report) {
  polite.other_report = report;
}

static int is_first(void) {
  const void *none = NULL;
  return atomic_compare_exchange_strong(&polite.first, &none, &mine);
}

/* Several threads may call it at the same time: all write the same. */
int rgi_polite_start(void) {
  /* When the library is preloaded into a program that is also linked with
   * libregroup there are two copies of this file: only the first one pauses. */
  int first = dlsym(RTLD_DEFAULT, "ucp_worker_progress") == (void *)own_ucp_worker_progress;
  tell_wrong_options();
  is_first();
  polite.on = first && choice(RGI_OPT_POLITE);
  polite.spare = spare_processor();
  polite.kind = choice(RGI_OPT_WAIT); /* an rgi_pause_kind */
  polite.other = (since_fn *)find_other("rgi_polite_since", (void *)own_rgi_polite_since);
  polite.other_polls = (polls_fn *)find_other("rgi_polite_polls", (void *)own_rgi_polite_polls);
  report_to_fn *to =
      (report_to_fn *)find_other("rgi_polite_report_to", (void *)own_rgi_polite_report_to);
  if (to && !first)
    to(report_own);
  return polite.on;
}

int rgi_polite_expect_unseen(void) {
  rgi_polite_start();
  polite.unseen = choice(RGI_OPT_POLITE);
  return polite.on;
}

static progress_fn *find_progress(void) {
  progress_fn *next = (progress_fn *)rgi_polite_next("ucp_worker_progress");
  rgi_polite_start();
  atomic_store(&polite.progress, next);
  return next;
}

static double used_seconds(const struct rusage *r) {
  return (double)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) +
         1e-6 * (double)(r->ru_utime.tv_usec + r->ru_stime.tv_usec);
}

/* Whether the thread had no processor since the last report: it has used no time and has not
 * blocked. Then a gap between two polls does not end the wait. */
static int was_put_aside(void) {
  struct rusage use;
  return mine.use.ru_nvcsw && getrusage(RUSAGE_THREAD, &use) == 0 &&
         use.ru_nvcsw == mine.use.ru_nvcsw &&
         used_seconds(&use) - used_seconds(&mine.use) < 5 * GAP_SECONDS;
}

/* getrusage's are up to a tick of the system's clock old. */
static double thread_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A gap in which this thread has waited for MPICH's lock, which others had, does not end the row.
 */
static int waited_for_lock(void) {
  return mine.processor > 0 && thread_seconds() - mine.processor < GAP_SECONDS;
}

/* Where others have moved something the pauses begin anew, since a thread sleeps with the lock; for
 * the same reason it sleeps briefly (rgi_pause). */
static void note_moves(void) {
  unsigned moves = atomic_load_explicit(&polite.moves, memory_order_relaxed);
  if (moves != mine.all_moves)
    mine.pause = (rgi_pause){0};
  mine.all_moves = moves;
}

static void report_wait(double now) {
  mine.use.ru_nvcsw = 0;
  if ((!rgi_mpich_waits && !mine.asked) || now - mine.since < REPORT_SECONDS)
    return;
  if (rgi_mpich_waits)
    rgi_mpich_waits(mine.since, now);
  getrusage(RUSAGE_THREAD, &mine.use);
}

/* Since when this thread has been waiting, for the other copy, whose poll in vain this is; 0: it
 * does not wait, or has just come back from other work. */
double rgi_polite_since(double now) {
  mine.asked = 1;
  return rgi_mpich_own_wait ? rgi_mpich_own_wait : now - mine.last <= GAP_SECONDS ? mine.since : 0;
}

/* Whether the poll in vain is one of a wait of this copy's library, which pauses itself. */
int rgi_polite_polls(void) {
  return mine.polling > 0;
}

static void report_other(void) {
  double now = rgi_clock_now(), since = polite.other(now);
  if (since > 0 && now - since >= REPORT_SECONDS)
    rgi_mpich_waits(since, now);
}

/* Not inlined: most polls in vain do not come so far. */
static __attribute__((noinline)) void pause_now(int look) {
  atomic_fetch_add_explicit(&polite.polls, mine.polls, memory_order_relaxed);
  mine.polls = 0;
  int shared = atomic_load_explicit(&polite.several, memory_order_relaxed);
  mine.free = look ? FREE_LOOKS : 0;
  double now = rgi_clock_now();
  int gap = now - mine.last > GAP_SECONDS && !waited_for_lock();
  if (shared)
    note_moves();
  if (mine.since == 0 || (gap && !was_put_aside()))
    mine.since = now;
  if (gap)
    mine.pause = (rgi_pause){0};
  mine.pause.brief = shared;
  rgi_pause_result did =
      look ? RGI_PAUSE_SPUN
           : rgi_pause_step(&mine.pause, (rgi_pause_kind)polite.kind, polite.spare);
  if (did == RGI_PAUSE_YIELDED)
    atomic_fetch_add_explicit(&polite.yields, 1, memory_order_relaxed);
  if (did == RGI_PAUSE_SLEPT)
    atomic_fetch_add_explicit(&polite.sleeps, 1, memory_order_relaxed);
  report_wait(now);
  mine.processor = shared ? thread_seconds() : 0;
  mine.last = did == RGI_PAUSE_SPUN ? now : rgi_clock_now();
}

/* This poll is the first one after a call that was served. */
static void begin_row(void) {
  end_row();
  mine.served = rgi_mpich_served;
}

static inline void pause_once(void) {
  int look = rgi_polite_looking > 0 && polite.spare && polite.kind == RGI_PAUSE_AUTO;
  int begun = mine.begun;
  mine.polls++;
  mine.begun = 1;
  if (mine.polls <= mine.free)
    return;
  if (mine.served != rgi_mpich_served)
    begin_row();
  else if (look && !begun)
    mine.free = mine.polls + FREE_LOOKS - FREE_POLLS;
  else if (!polite.other_polls || !polite.other_polls())
    pause_now(look);
}

/* Two moves at once may count as one. */
static inline void note_poll(unsigned done) {
  mine.moves += done > 0;
  if (done)
    atomic_store_explicit(&polite.moves, polite.moves + 1, memory_order_relaxed);
  if (polite.first != &mine)
    atomic_store_explicit(&polite.several, !is_first(), memory_order_relaxed);
}

/* Not inlined: most polls do not come so far. */
static __attribute__((noinline)) unsigned end_poll(unsigned done) {
  note_poll(done);
  if (!done && rgi_mpich_polled)
    rgi_mpich_polled();
  if (!done && rgi_mpich_waits && polite.other && mine.polling == 0)
    report_other();
  if (polite.on)
    atomic_store_explicit(&polite.seen, SEEN, memory_order_relaxed);
  if (!polite.on || mine.polling > 0)
    return done;
  if (done)
    end_row();
  else
    pause_once();
  return done;
}

static __attribute__((noinline)) unsigned first_poll(void *worker) {
  progress_fn *next = find_progress();
  return next ? end_poll(next(worker)) : 0;
}

/* A poll of some ten nanoseconds is the unit of many calls of MPI: a free one takes few steps. */
unsigned ucp_worker_progress(void *worker) {
  progress_fn *next = atomic_load_explicit(&polite.progress, memory_order_acquire);
  if (rgi_mpich_still)
    return 0;
  if (!next)
    return first_poll(worker);
  if (rgi_polite_end_begun())
    return end_poll(rgi_polite_end_poll(next, worker));
  unsigned done = next(worker);
  if (done || mine.polls >= mine.free || mine.polling || rgi_mpich_polled)
    return end_poll(done);
  mine.polls++;
  return 0;
}

/* For RG_PATIENCE: to the library of this copy, which notes its own waits itself, and to that of
 * the other one. */
static void report_unseen(double since, double now) {
  if (now - since < REPORT_SECONDS)
    return;
  if (!rgi_mpich_own_wait)
    report_own(since, now);
  if (polite.other_report)
    polite.other_report(since, now);
  getrusage(RUSAGE_THREAD, &mine.use);
}

static void watch_unseen(void) {
  if (rgi_mpich_waits && polite.other)
    report_other();
  if (!rgi_mpich_waits && !polite.other_report)
    return;
  double now = rgi_clock_now();
  if (rgi_mpich_own_wait) {
    report_unseen(rgi_mpich_own_wait, now);
    return;
  }
  if (mine.served != rgi_mpich_served)
    begin_row();
  if (!mine.begun || (now - mine.last > GAP_SECONDS && !was_put_aside()))
    mine.since = now;
  mine.begun = 1;
  mine.use.ru_nvcsw = 0;
  report_unseen(mine.since, now);
  mine.last = now;
}

/* With a processor for each process there is none to give away; and after a few polls in vain a
 * system call each is less than what it saves. */
static void yield_unseen(void) {
  int spins = polite.kind == RGI_PAUSE_SPIN || (polite.kind == RGI_PAUSE_AUTO && polite.spare);
  mine.polls++;
  if (spins || mine.unseen < FREE_POLLS) {
    mine.unseen += !spins;
    rgi_pause_spin();
    return;
  }
  atomic_fetch_add_explicit(&polite.polls, mine.polls, memory_order_relaxed);
  atomic_fetch_add_explicit(&polite.yields, 1, memory_order_relaxed);
  mine.polls = 0;
  sched_yield();
  if (mine.last > 0)
    mine.last = rgi_clock_now();
}

/* A look of the library's own wait moves something each time: the answer to the look. */
void rgi_polite_unseen(int moved) {
  if (rgi_mpich_own_wait || (!moved && mine.polling == 0))
    watch_unseen();
  if (mine.polling > 0)
    return;
  atomic_store_explicit(&polite.seen, UNSEEN, memory_order_relaxed);
  if (moved)
    end_row();
  else
    yield_unseen();
}

/* Closing TCP connections in MPI_Finalize hangs in UCX 1.13 with 8 ranks and
 * more (openucx/ucx issue 8738), and so does a flush of them alone: it waits for answers of
 * processes that do not poll any more. So nothing is done here: the kernel closes them when the
 * process ends, and what is still to be sent is sent meanwhile (polite_end.c). NULL tells the
 * caller that the connection is closed. */
void *ucp_disconnect_nb(void *endpoint) {
  static _Atomic(disconnect_fn *) real;
  disconnect_fn *next = atomic_load(&real);
  if (polite.on) {
    rgi_polite_end_begin();
    return NULL;
  }
  if (!next) {
    next = (disconnect_fn *)rgi_polite_next("ucp_disconnect_nb");
    atomic_store(&real, next);
  }
  return next ? next(endpoint) : NULL;
}

/* MPICH 4.0 to 4.2: where UCX receives a large active message at once, as 1.18 does through shared
 * memory between pretended nodes, MPICH calls its own callback with a variable as UCX's request,
 * and the callback releases it. UCX would write in front of the variable, or end the process. UCX's
 * requests are never on the stack. */
void ucp_request_release(void *request) {
  static _Atomic(release_fn *) real;
  release_fn *next = atomic_load_explicit(&real, memory_order_acquire);
  if ((uintptr_t)request - (uintptr_t)__builtin_frame_address(0) < NEAR_BYTES)
    return;
  if (!next) {
    next = (release_fn *)rgi_polite_next("ucp_request_release");
    atomic_store(&real, next);
  }
  if (next)
    next(request);
}

int rgi_mpich_yields_only(void) {
  return polite.on && atomic_load(&polite.seen) == UNSEEN;
}

int rgi_polite_gives_away(void) {
  return polite.on && !polite.spare && polite.kind != RGI_PAUSE_SPIN;
}

int rg_polite_active(int *active) {
  if (!active)
    return rg_error_set ? rg_error_set(RG_ERR_ARG, "%s: active is NULL", __func__) : RG_ERR_ARG;
  *active = polite.on && atomic_load(&polite.seen);
  return RG_SUCCESS;
}

int rg_polite_polling(int polling) {
  mine.polling += polling ? 1 : -1;
  return RG_SUCCESS;
}

int rg_polite_counts(int64_t *polls, int64_t *yields, int64_t *sleeps) {
  if (polls)
    *polls = (int64_t)(atomic_load(&polite.polls) + mine.polls);
  if (yields)
    *yields = atomic_load(&polite.yields);
  if (sleeps)
    *sleeps = atomic_load(&polite.sleeps);
  return RG_SUCCESS;
}
