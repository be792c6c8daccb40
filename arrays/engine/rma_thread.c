/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The thread that moves other nodes' operations on while this process computes. MPI does not wake
 * a thread when a message comes, so this one calls MPI from time to time: often after it has found
 * something to do, less and less often while it finds nothing. */
#include <armcix.h>
#include <pthread.h>
#include <regroup/polite.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "engine/rma.h"
#include "runtime/runtime.h"

#define SHORTEST_SECONDS 20e-6
#define LONGEST_SECONDS 1e-3
/* Calls that find nothing, before the first sleep. */
#define PATIENCE 20

static struct {
  pthread_t thread;
  int runs;
  int sees; /* whether the polite library tells that MPI found something */
  atomic_int stop;
} progress_thread;

/* Whether MPI found something to do: then the count of polls that found nothing has not changed. */
static int progress_once(void) {
  int64_t before = 0, after = 0;
  rg_polite_counts(&before, NULL, NULL);
  ARMCIX_Progress();
  rg_polite_counts(&after, NULL, NULL);
  return progress_thread.sees && before == after;
}

static void *serve_others(void *unused) {
  double nap = SHORTEST_SECONDS;
  int vain = 0;
  while (!atomic_load_explicit(&progress_thread.stop, memory_order_relaxed)) {
    if (progress_once()) {
      vain = 0;
      nap = SHORTEST_SECONDS;
    } else if (++vain < PATIENCE) {
      sched_yield();
    } else {
      rgi_clock_sleep(nap);
      nap = nap * 1.25 < LONGEST_SECONDS ? nap * 1.25 : LONGEST_SECONDS;
    }
  }
  return unused;
}

void rgi_rma_thread_start(void) {
  if (!rgi_options_choice(RGI_OPT_PROGRESS_THREAD))
    return;
  rg_polite_active(&progress_thread.sees);
  if (!rgi_runtime.threads)
    rgi_log(RGI_LOG_WARN, "RG_PROGRESS_THREAD=1 needs MPI_Init_thread with MPI_THREAD_MULTIPLE: "
                          "there will be no progress thread");
  else if (pthread_create(&progress_thread.thread, NULL, serve_others, NULL) != 0)
    rgi_log(RGI_LOG_WARN, "RG_PROGRESS_THREAD=1: the thread cannot be made");
  else
    progress_thread.runs = 1;
}

void rgi_rma_thread_stop(void) {
  if (!progress_thread.runs)
    return;
  atomic_store(&progress_thread.stop, 1);
  pthread_join(progress_thread.thread, NULL);
  atomic_store(&progress_thread.stop, 0);
  progress_thread.runs = 0;
}
