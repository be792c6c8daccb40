/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "speedup.h"

#include <math.h>

/* A cost that grows more slowly than p to this power counts as constant. */
#define COST_OPTIMAL 0.1
/* Rounding must not make a speedup super-linear. */
#define ROUNDING 1e-9

double bench_amdahl(double f, double p) {
  return 1 / (f + (1 - f) / p);
}

double bench_gustafson(double f, double p) {
  return p + (1 - p) * f;
}

/* --- one run ------------------------------------------------------------------------ */

/* needed: computation for a unit of work. */
static void split_overhead(const bench_run *run, double needed, bench_measures *measures) {
  int known = run->computation >= 0 && run->communication >= 0 && run->idle >= 0;
  measures->communication = run->communication;
  measures->idle = run->idle;
  measures->extra = run->computation >= 0 ? run->computation - needed * run->work : BENCH_UNKNOWN;
  measures->rest =
      known ? measures->overhead - measures->communication - measures->idle - measures->extra
            : BENCH_UNKNOWN;
  measures->granularity = run->computation >= 0 && run->communication > 0
                              ? run->computation / run->communication
                              : BENCH_UNKNOWN;
}

static void measure(const bench_run *run, double sequential, double needed,
                    bench_measures *measures) {
  double p = run->p;
  measures->speedup = sequential * run->work / run->seconds;
  measures->efficiency = measures->speedup / p;
  measures->cost = p * run->seconds;
  measures->overhead = measures->cost - sequential * run->work;
  measures->karp_flatt = run->p > 1 ? (1 / measures->speedup - 1 / p) / (1 - 1 / p) : NAN;
  measures->super_linear = measures->speedup > p * (1 + ROUNDING);
  split_overhead(run, needed, measures);
}

/* --- all runs ----------------------------------------------------------------------------- */

static double residual(double law(double, double), double f, int n, const bench_run run[],
                       const bench_measures measures[]) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += pow(law(f, run[i].p) / measures[i].speedup - 1, 2);
  return sqrt(sum / n);
}

/* Both laws are lines through a fixed point: 1/S - 1/p = f (1 - 1/p), p - S = f (p - 1). */
static void fit_laws(int n, const bench_run run[], const bench_measures measures[],
                     bench_scaling *scaling) {
  double xy = 0, xx = 0, uv = 0, uu = 0;
  for (int i = 0; i < n; i++) {
    double p = run[i].p, x = 1 - 1 / p, u = p - 1;
    xy += x * (1 / measures[i].speedup - 1 / p);
    xx += x * x;
    uv += u * (p - measures[i].speedup);
    uu += u * u;
  }
  scaling->amdahl.f = xy / xx;
  scaling->gustafson.f = uv / uu;
  scaling->amdahl.residual = residual(bench_amdahl, scaling->amdahl.f, n, run, measures);
  scaling->gustafson.residual = residual(bench_gustafson, scaling->gustafson.f, n, run, measures);
}

/* The slope of log(cost / work) over log p, by least squares. */
static double cost_growth(int n, const bench_run run[], const bench_measures measures[]) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (int i = 0; i < n; i++) {
    double a = log(run[i].p), b = log(measures[i].cost / run[i].work);
    x += a / n;
    y += b / n;
    xx += a * a;
    xy += a * b;
  }
  return (xy - n * x * y) / (xx - n * x * x);
}

void bench_speedup(int n, const bench_run run[], double sequential, bench_measures measures[],
                   bench_scaling *scaling) {
  double needed = sequential;
  *scaling = (bench_scaling){.sequential = sequential, .strong = 1};
  if (!(sequential > 0)) {
    scaling->estimated = run[0].p > 1;
    scaling->sequential = run[0].p * run[0].seconds / run[0].work;
    needed = run[0].computation >= 0 ? run[0].computation / run[0].work : scaling->sequential;
  }
  for (int i = 0; i < n; i++) {
    measure(&run[i], scaling->sequential, needed, &measures[i]);
    scaling->strong &= run[i].work == run[0].work;
  }
  fit_laws(n, run, measures, scaling);
  scaling->growth = cost_growth(n, run, measures);
  scaling->cost_optimal = scaling->growth < COST_OPTIMAL;
}
