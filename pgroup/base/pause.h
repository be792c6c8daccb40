/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One step of a polite wait: what every wait of the library, and MPI's own waits through polite.c,
 * do between two looks at what they wait for. Inline: polite.c is also built alone. */
#ifndef RGI_PAUSE_H
#define RGI_PAUSE_H

#include <sched.h>

#include "base/clock.h"

typedef enum { RGI_PAUSE_AUTO, RGI_PAUSE_SPIN, RGI_PAUSE_YIELD, RGI_PAUSE_SLEEP } rgi_pause_kind;

typedef enum { RGI_PAUSE_SPUN, RGI_PAUSE_YIELDED, RGI_PAUSE_SLEPT } rgi_pause_result;

/* Spin this long while there is a processor to spin on. */
#define RGI_PAUSE_SPIN_SECONDS 50e-6
/* Yield at least this long and this often before sleeping. Often: while other processes use all
 * processors, time passes without this one having looked. */
#define RGI_PAUSE_YIELD_SECONDS 2e-3
#define RGI_PAUSE_YIELDS 64
/* A sleep lasts at most this part of the wait so far, and never longer than the time below. */
#define RGI_PAUSE_SLEEP_PART (1.0 / 16)
#define RGI_PAUSE_SLEEP_SECONDS 1e-3
#define RGI_PAUSE_BRIEF_SECONDS 1e-5 /* and what the system adds, about 50 us */

typedef struct {
  double start;        /* when this wait began; 0: it has not begun */
  unsigned long looks; /* how many times it has paused */
  int brief;           /* others cannot go on while it sleeps: it sleeps as briefly as it can */
} rgi_pause;

/* Tells the processor that this is a loop that spins. */
static inline void rgi_pause_spin(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* spare: whether there is a processor for every process that may spin. */
static inline rgi_pause_result rgi_pause_step(rgi_pause *pause, rgi_pause_kind kind, int spare) {
  double now = rgi_clock_now();
  if (pause->start == 0)
    pause->start = now;
  double waited = now - pause->start;
  pause->looks++;
  if (kind == RGI_PAUSE_SPIN ||
      (kind == RGI_PAUSE_AUTO && spare && waited < RGI_PAUSE_SPIN_SECONDS)) {
    rgi_pause_spin();
    return RGI_PAUSE_SPUN;
  }
  if (kind != RGI_PAUSE_SLEEP && (kind == RGI_PAUSE_YIELD || waited < RGI_PAUSE_YIELD_SECONDS ||
                                  pause->looks < RGI_PAUSE_YIELDS)) {
    sched_yield();
    return RGI_PAUSE_YIELDED;
  }
  double part = waited * RGI_PAUSE_SLEEP_PART,
         most = pause->brief ? RGI_PAUSE_BRIEF_SECONDS : RGI_PAUSE_SLEEP_SECONDS;
  rgi_clock_sleep(part < most ? part : most);
  return RGI_PAUSE_SLEPT;
}

#endif
