/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Measures several ways of doing the same thing against one another. In every
 * repetition each contender runs once, in an order that rotates, so that what
 * disturbs the machine disturbs all alike. A run starts at the same moment on
 * all ranks that take part, and its time is that of the slowest, unless it times itself. */
#ifndef BENCH_SAMPLER_H
#define BENCH_SAMPLER_H

#include <mpi.h>

#include "runtime/program/program.h"
#include "stats.h"

typedef struct {
  const char *name;
  int takes_part; /* whether this rank calls run and finish; the others wait */
  /* run is timed and its messages are counted; finish, which checks the result
   * and gives it up, is not. Both return NULL, or what was wrong: a text that
   * lasts until the next call. A failure ends the measurement. finish may be
   * NULL. */
  const char *(*run)(void *context);
  const char *(*finish)(void *context);
  void *context;
  int batch; /* run does it so many times, and the time of one is told; 0: 1 */
  /* What run has timed itself, in seconds: the mean of the ranks that take part is told. NULL: run
   * is timed as a whole, and the slowest rank's time is told. */
  const double *spent;
} bench_contender;

/* Only rank 0's plan counts. */
typedef struct {
  int warmup;             /* repetitions that do not count */
  int reps;               /* most repetitions that count */
  double seconds;         /* no repetition starts after so long, but one is made */
  double precision;       /* ends when bench_precision of each is below */
  rgp_progress *progress; /* shown from `done` to `done` + `share` */
  double done, share;
} bench_plan;

typedef struct {
  bench_stats seconds;
  long messages, messages_most; /* sum over all ranks: least and most of the runs */
  int late;                     /* runs that a rank started after the agreed moment */
} bench_measured;

/* Collective over comm, with the same contenders in the same order. Rank 0 gets
 * measured[0..n-1]; on the other ranks it may be NULL. Returns 1, or 0 on all
 * ranks after rank 0 has said on standard error which contender failed on which
 * rank. */
int bench_measure(MPI_Comm comm, const bench_plan *plan, int n, const bench_contender contender[],
                  bench_measured measured[]);

#endif
