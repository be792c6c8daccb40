/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a process prints before it ends the job. The launcher may read late, and drops what it has
 * not read when it hears of the end. */
#ifndef RGI_LAST_WORDS_H
#define RGI_LAST_WORDS_H

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

#define RGI_LAST_WORDS_SECONDS 5.0        /* for the launcher to read, at most */
#define RGI_LAST_WORDS_CHECK_SECONDS 0.01 /* between looks */
#define RGI_LAST_WORDS_PASS_SECONDS 0.05  /* for the launcher to pass it on */

/* pause: how the caller waits. */
static inline void rgi_last_words_await(void (*pause)(double seconds)) {
  int unread = 1;
  for (double end = rgi_clock_now() + RGI_LAST_WORDS_SECONDS;
       unread > 0 && rgi_clock_now() < end && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0;)
    pause(RGI_LAST_WORDS_CHECK_SECONDS);
  pause(RGI_LAST_WORDS_PASS_SECONDS);
}

#endif
