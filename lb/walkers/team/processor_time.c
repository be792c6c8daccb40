/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Where more processes compute than there are processors, each uses a part of one only. The time
 * that it has waited for a processor, which Linux counts for each thread (schedstat), shows that it
 * would use more. */
#include "walkers/team/processor_time.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define COMPUTES 0.8 /* a process that wants so much of a processor does not sleep */

/* The second number of the file: nanoseconds on a run queue. */
static double read_waited(void) {
  char text[96], *second;
  int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  ssize_t n = read(file, text, sizeof text - 1);
  close(file);
  text[n > 0 ? n : 0] = '\0';
  strtoull(text, &second, 10);
  return 1e-9 * (double)strtoull(second, NULL, 10);
}

rgi_processor_time rgi_processor_time_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (rgi_processor_time){(double)t.tv_sec + 1e-9 * (double)t.tv_nsec, read_waited()};
}

double rgi_processor_time_use(const rgi_processor_time *from, const rgi_processor_time *to,
                              double seconds) {
  if (!(seconds > 0))
    return 0;
  double used = (to->used - from->used) / seconds;
  double wanted = used + (to->waited - from->waited) / seconds;
  return wanted >= COMPUTES ? wanted : used;
}
