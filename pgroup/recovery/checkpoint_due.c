/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whether a checkpoint is due. The handler of signals sets a flag and does nothing else; the flag
 * stays set, so that all that asks later gets the same answer. The time that is left is compared
 * with what a checkpoint takes and with the time until the next question. */
#include "recovery/checkpoint_due.h"

#include <pthread.h>
#include <regroup/collectives.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/c_locale.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "formation/group.h"

/* A checkpoint at the end of a job may take longer than earlier ones: others save as well. */
#define COST_FACTOR 2.0
/* Of the time between questions, what is still expected after a shorter one. */
#define INTERVAL_KEPT 0.9

static atomic_int noted;

static struct {
  pthread_mutex_t lock;
  double cost;     /* seconds of the longest checkpoint */
  double asked;    /* when the last question came; 0: none has */
  double interval; /* seconds between questions */
} times = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- signals -------------------------------------------------------------------------------- */

static struct {
  int caught;
  struct sigaction before;
} actions[NSIG];

static void on_signal(int signal) {
  (void)signal;
  atomic_store(&noted, 1);
}

static int set_action(int signal, const struct sigaction *act, struct sigaction *before) {
  return sigaction(signal, act, before) ? rgi_error(RG_ERR_ARG,
                                                    "rg_checkpoint_on_signal: signal %d cannot be "
                                                    "caught",
                                                    signal)
                                        : RG_SUCCESS;
}

int rg_checkpoint_on_signal(int signal, int on) {
  struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  if (signal < 1 || signal >= NSIG)
    return rgi_error(RG_ERR_ARG, "%s: there is no signal %d", __func__, signal);
  if (!on == !actions[signal].caught)
    return RG_SUCCESS;
  sigemptyset(&act.sa_mask);
  RGI_TRY(on ? set_action(signal, &act, &actions[signal].before)
             : set_action(signal, &actions[signal].before, NULL));
  actions[signal].caught = on != 0;
  return RG_SUCCESS;
}

/* --- time ----------------------------------------------------------------------------------- */

/* When the job's time ends, in seconds since 1970; 0: not known. */
static double end_time(void) {
  double end = rgi_options_value(RGI_OPT_END_TIME);
  const char *slurm = end > 0 ? NULL : getenv("SLURM_JOB_END_TIME");
  return slurm ? rgi_c_locale_number(slurm, NULL) : end;
}

static double time_left(double end) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return end - ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
}

/* Seconds that are needed from now on, if nothing is done until the next question. */
static double time_needed(void) {
  double now = rgi_clock_now();
  pthread_mutex_lock(&times.lock);
  double since = times.asked > 0 ? now - times.asked : 0, kept = INTERVAL_KEPT * times.interval;
  times.interval = since > kept ? since : kept;
  times.asked = now;
  double needed = COST_FACTOR * times.cost + times.interval;
  pthread_mutex_unlock(&times.lock);
  return needed + rgi_options_value(RGI_OPT_END_MARGIN);
}

void rgi_checkpoint_due_cost(double seconds) {
  pthread_mutex_lock(&times.lock);
  times.cost = seconds > times.cost ? seconds : times.cost;
  pthread_mutex_unlock(&times.lock);
}

/* --- what is due ---------------------------------------------------------------------------- */

void rgi_checkpoint_due_note(void) {
  atomic_store(&noted, 1);
}

int rgi_checkpoint_due_here(void) {
  double end = end_time();
  if (!atomic_load(&noted) && end > 0 && time_left(end) <= time_needed())
    rgi_checkpoint_due_note();
  return atomic_load(&noted);
}

int rg_checkpoint_due(rg_group g, int *due) {
  RGI_REQUIRE(due);
  RGI_TRY(rgi_group_check_member(__func__, g));
  int any = rgi_checkpoint_due_here();
  RGI_TRY(rg_allreduce(g, MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX));
  if (any)
    rgi_checkpoint_due_note();
  *due = any;
  return RG_SUCCESS;
}
