/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Waiting. A wait is a loop of the caller's: it looks at its condition and calls rgi_wait_more or
 * rgi_wait_bell, until the condition is fulfilled or these return an error. These also move on all
 * that the process has under way. A caller that waits for a message or a request does so itself
 * before each look (alone).
 *
 * A wait ends in one of four ways:
 * - completion: the caller finds its condition fulfilled;
 * - death: a member of the failure scope (by default the group of the current call) or the
 *   watched process has died: RG_ERR_PROC_FAILED;
 * - revocation: the group, or its parent, has been revoked: RG_ERR_REVOKED;
 * - time: RG_TIMEOUT seconds have passed: RG_ERR_TIMEOUT. The condition is looked at once more
 *   before that, as this process may have been stopped itself for so long.
 *
 * check_time finds the last three. It looks for deaths among the node's own processes, unless
 * another process of the node has just done so (rgi_process_check: one look of the node each 5 ms);
 * those of other nodes are written into the table of processes by the node daemon, which also rings
 * all bells.
 *
 * Pauses. If the node has a processor for each process, a wait spins for some time; otherwise it
 * yields, and after a while it sleeps (base/pause.h). A wait inside the node sleeps on the
 * process's bell, a futex: the caller reads the bell (acquire), looks at its condition, and
 * sleeps only if the bell still has the value read. The other process changes the condition
 * first and rings the bell afterwards (release), so a wake-up is not lost: a sleeper is counted
 * before it looks at the bell's value a last time, and the other process looks at that count
 * after it has changed the value, both sequentially consistent. The sleep is short all the same
 * where something has to be looked at that does not ring: MPI, or rgi_wait_meanwhile.
 *
 * Reports. After RG_STALL_REPORT seconds a wait is logged once, with the call and the awaited
 * rank. In a job that survives, a wait without a time limit is also noted in the table of
 * processes when nothing moves inside MPI either: if all processes of a job wait like this after
 * a death, the guards end the job (RG_PATIENCE). */
#include "progress/wait.h"

#include <regroup/polite.h>
#include <regroup/runtime.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/label.h"
#include "base/log.h"
#include "base/options.h"
#include "mpich/mpich.h"
#include "progress/mpi_error.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"
#include "shm/stall.h"

void (*rgi_wait_meanwhile)(void);

void rgi_wait_start(rgi_wait *wait, const char *call, int peer) {
  *wait = (rgi_wait){.call = call, .peer = peer, .watched = -1, .scope = rgi_failure_scope_now};
}

void rgi_wait_start_unscoped(rgi_wait *wait, const char *call, int peer) {
  rgi_wait_start(wait, call, peer);
  wait->scope = (rgi_failure_scope){0};
}

void rgi_wait_start_patient(rgi_wait *wait, const char *call) {
  rgi_wait_start_unscoped(wait, call, -1);
  wait->patient = 1;
}

/* The awaited process, for a report. */
static const char *peer_text(const rgi_wait *wait, char text[32]) {
  int peer = wait->awaited ? wait->awaited(wait->of) : wait->peer;
  if (peer < 0)
    return "another process";
  snprintf(text, 32, "rank %d", peer);
  return text;
}

/* A wait that may last for ever is noted, with the time since when nothing has moved: neither what
 * is waited for, nor anything inside MPI. Returns that time; 0: it is not noted. */
static double note_wait(const rgi_wait *wait, double now) {
  static _Thread_local unsigned long moves;
  static _Thread_local double moved;
  if (wait->outside ||
      (rgi_options_value(RGI_OPT_TIMEOUT) > 0 && !wait->patient && !wait->unlimited))
    return 0;
  if (moves != rgi_mpich_moves())
    moved = now;
  moves = rgi_mpich_moves();
  double since = wait->pause.start > moved ? wait->pause.start : moved;
  if (moves && wait->patient)
    rgi_process_note_patient_wait(since, now);
  else if (moves)
    rgi_process_note_wait(since, now);
  return moves ? since : 0;
}

static void note_and_poll(const rgi_wait *wait, double now) {
  double since = note_wait(wait, now);
  if (!rgi_wait_meanwhile)
    return;
  rgi_mpich_own_wait = since;
  rgi_wait_meanwhile();
  rgi_mpich_own_wait = 0;
}

/* Whether something needs this process although the bell does not ring. */
static int is_busy(void) {
  return rgi_wait_meanwhile || rgi_progress_busy() || rgi_requests_busy();
}

static int move_on(const rgi_wait *wait) {
  if (wait->alone)
    return RG_SUCCESS;
  RGI_TRY(rgi_progress_attempt());
  rgi_requests_attempt();
  return RG_SUCCESS;
}

/* A wait that takes so long shows the other processes of the node on which group it is; so long a
 * note counts. */
#define STALL_SECONDS 0.05
#define STALL_COUNTS_SECONDS 0.5

/* Who waits on another group meanwhile: a text to be added to a report, or "". */
static const char *find_stall(const rgi_wait *wait, double now, int *begins,
                              char text[RGI_STALL_TEXT + 2]) {
  memcpy(text, "; ", 3);
  return rgi_stall_find(&wait->scope, wait->call, now, begins, text + 2) ? text : "";
}

/* RG_TIMEOUT has passed. Members that begin with the same call on different groups were given
 * different lists. */
static int end_by_time(const rgi_wait *wait, double limit, double now) {
  char peer[32], group[RGI_LABEL_PHRASE], stall[RGI_STALL_TEXT + 2];
  int begins = 0;
  uint32_t noted = wait->noted;
  const char *other = find_stall(wait, now, &begins, stall);
  rgi_stall_note(&wait->scope, wait->call, wait->unmet, now + limit, &noted);
  return rgi_error(wait->unmet && begins ? RG_ERR_MISMATCH : RG_ERR_TIMEOUT,
                   "%s%s: %s has not answered within RG_TIMEOUT = %g s%s: do all members make "
                   "the same call?",
                   wait->call, rgi_label_phrase(wait->scope.context, group), peer_text(wait, peer),
                   limit, other);
}

static void report_stall(const rgi_wait *wait, double waited) {
  char peer[32], group[RGI_LABEL_PHRASE], stall[RGI_STALL_TEXT + 2];
  int begins;
  const char *other = find_stall(wait, wait->pause.start + waited, &begins, stall);
  rgi_log(RGI_LOG_WARN, "%s%s has been waiting for %s for %.0f s%s", wait->call,
          rgi_label_phrase(wait->scope.context, group), peer_text(wait, peer), waited, other);
}

#define HOOK_SECONDS 0.05

static struct {
  int (*call)(void *context);
  void *context;
} hook; /* the application's: rg_wait_hook_set */

int rg_wait_hook_set(int (*call)(void *context), void *context) {
  hook.call = call;
  hook.context = context;
  return RG_SUCCESS;
}

static int ask_hook(rgi_wait *wait, double waited) {
  if (!hook.call || waited - wait->asked < HOOK_SECONDS)
    return RG_SUCCESS;
  wait->asked = waited;
  unsigned mark = rgi_error_mark();
  return rgi_error_of_callback("the hook of waits", hook.call(hook.context), mark);
}

static int check_time(rgi_wait *wait, double waited) {
  rgi_process_check(wait->pause.start + waited);
  note_and_poll(wait, wait->pause.start + waited);
  if (wait->watched >= 0 && rgi_process_is_dead(wait->watched))
    return rgi_error(RG_ERR_PROC_FAILED, "%s: rank %d of the world has died", wait->call,
                     wait->watched);
  RGI_TRY(rgi_failure_check(&wait->scope, wait->call));
  RGI_TRY(ask_hook(wait, waited));
  if (wait->patient)
    return RG_SUCCESS;
  if (waited > STALL_SECONDS && !wait->outside)
    rgi_stall_note(&wait->scope, wait->call, wait->unmet,
                   wait->pause.start + waited + STALL_COUNTS_SECONDS, &wait->noted);
  double limit = wait->unlimited ? 0 : rgi_options_value(RGI_OPT_TIMEOUT),
         report = rgi_options_value(RGI_OPT_STALL_REPORT);
  if (report > 0 && waited > report && !wait->reported) {
    wait->reported = 1;
    report_stall(wait, waited);
  }
  /* This process may have been stopped since its last look: one more. */
  if (limit > 0 && waited > limit && wait->over++)
    return end_by_time(wait, limit, wait->pause.start + waited);
  return RG_SUCCESS;
}

int rgi_wait_more(rgi_wait *wait) {
  rgi_pause_result did = rgi_pause_step(
      &wait->pause, (rgi_pause_kind)rgi_options_choice(RGI_OPT_WAIT), !rgi_node.oversubscribed);
  RGI_TRY(move_on(wait));
  /* The clock is read only when time may have passed. */
  if (did == RGI_PAUSE_SPUN && wait->pause.looks % 1024)
    return RG_SUCCESS;
  return check_time(wait, rgi_clock_now() - wait->pause.start);
}

int rgi_wait_check(rgi_wait *wait) {
  double now = rgi_clock_now();
  RGI_TRY(move_on(wait));
  if (wait->pause.start == 0)
    wait->pause.start = now;
  return check_time(wait, now - wait->pause.start);
}

/* Looks further apart do not belong to one wait. */
#define GAP_SECONDS 20e-6

void rgi_wait_looked(int in_vain) {
  static _Thread_local struct {
    rgi_pause pause;
    double last; /* when the last look in vain returned */
  } looks;
  rgi_pause_kind kind = (rgi_pause_kind)rgi_options_choice(RGI_OPT_WAIT);
  if (kind == RGI_PAUSE_SPIN || (kind == RGI_PAUSE_AUTO && !rgi_node.oversubscribed))
    return;
  if (!in_vain || rgi_clock_now() - looks.last > GAP_SECONDS)
    looks.pause = (rgi_pause){0};
  if (!in_vain)
    return;
  rgi_pause_step(&looks.pause, kind, 0);
  looks.last = rgi_clock_now();
}

/* News of a death on another node takes at most about so long. */
#define CAUSE_SECONDS 5.0

int rgi_wait_cause(int error, const char *call) {
  rgi_wait wait;
  int cause = RG_SUCCESS;
  rgi_wait_start(&wait, call, -1);
  wait.patient = 1;
  for (double end = rgi_clock_now() + CAUSE_SECONDS;
       wait.scope.members && !cause && rgi_clock_now() < end;)
    cause = rgi_wait_more(&wait);
  return cause ? cause : error;
}

/* Longest sleeps on a bell: QUIET where only a death or the time limit must be noticed besides;
 * BUSY, growing as in pause.h, where something else has to be looked at as well. */
#define QUIET_SECONDS 0.02
#define BUSY_SECONDS 1e-4
#define PATIENT_SECONDS 5e-3

/* So long a wait yields before it sleeps: often the process that will ring only needs the
 * processor. */
#define BELL_YIELD_SECONDS 500e-6

/* But a wait that yields in vain has cost more than the sleep that follows, and with many processes
 * on few processors it has kept others from theirs. So after a wait that was longer the thread's
 * next ones sleep at once, until so many in a row have been short again. */
enum { SHORT_WAITS = 4 };
static _Thread_local int short_waits = SHORT_WAITS;

/* After a sleep. rung: it ended by the bell. */
static void learn_length(double waited, int rung) {
  if (waited > BELL_YIELD_SECONDS)
    short_waits = 0;
  else if (rung && short_waits < SHORT_WAITS)
    short_waits++;
}

/* Spins or yields. Returns 0 if it is time to sleep. */
static int spin_on_bell(rgi_wait *wait, double now) {
  int kind = rgi_options_choice(RGI_OPT_WAIT);
  if (wait->pause.start == 0)
    wait->pause.start = now;
  wait->pause.looks++;
  if (kind == RGI_PAUSE_SPIN || (kind == RGI_PAUSE_AUTO && !rgi_node.oversubscribed &&
                                 now - wait->pause.start < RGI_PAUSE_SPIN_SECONDS))
    return 1;
  int yields = kind == RGI_PAUSE_YIELD || (kind == RGI_PAUSE_AUTO && short_waits == SHORT_WAITS &&
                                           now - wait->pause.start < BELL_YIELD_SECONDS);
  if (yields)
    sched_yield();
  return yields;
}

static double busy_sleep(double waited) {
  double part = waited * RGI_PAUSE_SLEEP_PART;
  if (part < BUSY_SECONDS || rgi_wait_meanwhile)
    return BUSY_SECONDS;
  return part < RGI_PAUSE_SLEEP_SECONDS ? part : RGI_PAUSE_SLEEP_SECONDS;
}

/* Sleeps; the time afterwards. */
static double sleep_on_bell(const rgi_wait *wait, rgi_bell *bell, uint32_t old, double seconds) {
  if (wait->alone || bell == rgi_node_bell())
    rgi_bell_sleep(bell, old, seconds);
  else /* a message may come for this process, whose sender waits for it */
    rgi_bell_sleep_either(bell, old, rgi_node_bell(), wait->own, seconds);
  double now = rgi_clock_now();
  if (!wait->patient)
    learn_length(now - wait->pause.start,
                 atomic_load_explicit(&bell->value, memory_order_relaxed) != old);
  return now;
}

int rgi_wait_bell(rgi_wait *wait, rgi_bell *bell, uint32_t old, int quiet) {
  /* Reading the clock costs as much as many looks at the bell. */
  for (int i = 0; i < 64 && !rgi_node.oversubscribed; i++) {
    if (atomic_load_explicit(&bell->value, memory_order_acquire) != old)
      return RG_SUCCESS;
    rgi_pause_spin();
  }
  double now = rgi_clock_now();
  quiet = quiet && !is_busy();
  if (wait->patient)
    now = sleep_on_bell(wait, bell, old, quiet ? QUIET_SECONDS : PATIENT_SECONDS);
  else if (!spin_on_bell(wait, now))
    now =
        sleep_on_bell(wait, bell, old, quiet ? QUIET_SECONDS : busy_sleep(now - wait->pause.start));
  wait->own = atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
  RGI_TRY(move_on(wait));
  return check_time(wait, now - wait->pause.start);
}

/* MPI's own functions: no tool is to take the library's looks for the program's. */
static int end_look(int error, int found) {
  if (error || found)
    rgi_mpich_end_row();
  rg_polite_polling(0);
  return error;
}

int rgi_wait_mpi_test_status(MPI_Request *request, int *done, MPI_Status *status) {
  rg_polite_polling(1);
  int error = PMPI_Test(request, done, status);
  return end_look(error, !error && *done);
}

int rgi_wait_mpi_test(MPI_Request *request, int *done) {
  return rgi_wait_mpi_test_status(request, done, MPI_STATUS_IGNORE);
}

int rgi_wait_mpi_test_there(MPI_Request *request, int *done, MPI_Status *status) {
  rgi_mpich_still = 1;
  int error = rgi_wait_mpi_test_status(request, done, status);
  rgi_mpich_still = 0;
  return error;
}

int rgi_wait_mpi_probe(int source, int tag, MPI_Comm comm, int *there, MPI_Status *status) {
  rg_polite_polling(1);
  int error = PMPI_Iprobe(source, tag, comm, there, status);
  return end_look(error, !error && *there);
}

int rgi_wait_request(MPI_Request *request, const char *call, int peer) {
  rgi_wait wait;
  rgi_wait_start(&wait, call, peer);
  for (;;) {
    int done = 0;
    RGI_TRY_MPI(rgi_wait_mpi_test(request, &done));
    if (done)
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_more(&wait));
  }
}
