/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A small program to scale: in each step the first process computes a serial part
 * alone and broadcasts, then all compute their share, and an allreduce combines
 * it. Where the time goes is told apart. */
#ifndef BENCH_KERNEL_H
#define BENCH_KERNEL_H

#include <regroup.h>

/* In seconds of one process; summed over the runs so far. */
typedef struct {
  double elapsed, computation, communication, idle;
  int runs;
} bench_split;

typedef struct {
  rg_group group;
  int p, me, steps;
  double serial, parallel; /* units of computing in a step: alone, and each one's share */
  int bytes;               /* of the vector that is combined */
  char *in, *out;
  double *waited, *least; /* for each collective of a run: here, and the least of all */
  bench_split split;
} bench_kernel;

/* Units of computing that one process does in a second here and now. */
double bench_kernel_speed(void);

/* Returns 1, or 0 when there is no memory. Local. */
int bench_kernel_begin(bench_kernel *k, rg_group group, int steps, double serial, double parallel,
                       int bytes);
void bench_kernel_end(bench_kernel *k);

/* As contenders run and finish; context is a bench_kernel. finish tells the time
 * apart: the process that comes last to a collective waits least, so the least time in it is
 * communication; what other processes wait longer is idle time, and so is the time in which a
 * process that computes has no processor. */
const char *bench_kernel_run(void *context);
const char *bench_kernel_finish(void *context);

#endif
