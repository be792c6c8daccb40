/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Starting at the same moment on all ranks. */
#ifndef BENCH_START_H
#define BENCH_START_H

#include <mpi.h>

typedef struct {
  MPI_Comm comm;
  int one_clock; /* all ranks read the same clock: a moment can be agreed on */
  int spin;      /* each rank has a processor to itself: no need to sleep */
} bench_start;

/* Collective over comm. */
void bench_start_init(bench_start *s, MPI_Comm comm);

/* Comes back at the moment `when` of rgp_now, or after a barrier where the ranks
 * have different clocks: then every rank of comm must call, otherwise those that
 * want to wait. Returns 1 if the moment had passed already. */
int bench_start_wait(const bench_start *s, double when);

#endif
