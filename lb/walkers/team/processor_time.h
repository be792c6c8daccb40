/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How much of the processors this process uses. */
#ifndef RGI_TEAM_PROCESSOR_TIME_H
#define RGI_TEAM_PROCESSOR_TIME_H

/* Seconds since some time before. */
typedef struct {
  double used;   /* by all threads of the process */
  double waited; /* of the calling thread, for a processor; 0 where the system does not tell */
} rgi_processor_time;

rgi_processor_time rgi_processor_time_now(void);

/* The processors that the process would use if it never waited for one, over so many seconds
 * between two times. A process that sleeps most of the time waits after each sleep where others
 * compute: for it these waits do not count. */
double rgi_processor_time_use(const rgi_processor_time *from, const rgi_processor_time *to,
                              double seconds);

#endif
