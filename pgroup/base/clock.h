/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Seconds of the monotonic clock, and sleeping. Inline: polite.c is also built alone. */
#ifndef RGI_CLOCK_H
#define RGI_CLOCK_H

#include <time.h>

static inline double rgi_clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void rgi_clock_sleep(double seconds) {
  struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&t, NULL);
}

#endif
