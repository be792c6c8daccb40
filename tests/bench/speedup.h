/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the times of a scaling run say: speedup, efficiency, cost, overhead, and
 * the laws of Amdahl and Gustafson. Formulas as in Grama, Gupta, Karypis and Kumar,
 * Introduction to Parallel Computing, chapter 5; the experimentally determined
 * serial fraction is Karp and Flatt's (1990). No MPI. */
#ifndef BENCH_SPEEDUP_H
#define BENCH_SPEEDUP_H

#define BENCH_UNKNOWN (-1.0)

/* A run on p processes. work: what one process would have to do, in units of the
 * run on one: 1 on any p when the problem keeps its size (strong scaling), p when it
 * grows with p (weak scaling). computation, communication, idle: processor-seconds,
 * summed over the processes, or BENCH_UNKNOWN. */
typedef struct {
  int p;
  double seconds, work;
  double computation, communication, idle;
} bench_run;

/* What follows for one run. With t_seq, the time of one process for the same work:
 * speedup S = t_seq / t; efficiency S / p; cost p t; overhead p t - t_seq, of which
 * are known: communication, idle, extra work (computation beyond t_seq's) and the rest;
 * granularity computation / communication; Karp and Flatt's serial fraction
 * (1/S - 1/p) / (1 - 1/p). BENCH_UNKNOWN where it is not known (karp_flatt: NAN for
 * p = 1). */
typedef struct {
  double speedup, efficiency, cost, overhead;
  double communication, idle, extra, rest, granularity;
  double karp_flatt;
  int super_linear; /* S > p */
} bench_measures;

/* A law fitted to all runs: the serial fraction f, and the root of the mean square
 * of (law - S) / S. Amdahl: S = 1 / (f + (1 - f) / p); Gustafson: S = p + (1 - p) f. */
typedef struct {
  double f, residual;
} bench_law;

typedef struct {
  double sequential; /* t_seq of a unit of work */
  int estimated;     /* no run on one process and no time given: the smallest run was taken
                        for perfectly parallel */
  int strong;        /* all runs have the same work */
  bench_law amdahl, gustafson;
  double growth;    /* k where the cost for the same work grows as p^k */
  int cost_optimal; /* k < 0.1: over these p the cost grows as the work does */
} bench_scaling;

/* Measures n >= 2 runs, p growing; sequential: seconds of the best sequential
 * program, or 0 to take those of the run on one process. Fills measures[0..n-1]. */
void bench_speedup(int n, const bench_run run[], double sequential, bench_measures measures[],
                   bench_scaling *scaling);

/* Speedup on p that a law predicts. */
double bench_amdahl(double f, double p);
double bench_gustafson(double f, double p);

#endif
