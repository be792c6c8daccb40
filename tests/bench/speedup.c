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
static void split_overhead(const bench_run *r, double needed, bench_measures *m) {
  int known = r->computation >= 0 && r->communication >= 0 && r->idle >= 0;
  m->communication = r->communication;
  m->idle = r->idle;
  m->extra = r->computation >= 0 ? r->computation - needed * r->work : BENCH_UNKNOWN;
  m->rest = known ? m->overhead - m->communication - m->idle - m->extra : BENCH_UNKNOWN;
  m->granularity = r->computation >= 0 && r->communication > 0 ? r->computation / r->communication
                                                               : BENCH_UNKNOWN;
}

static void measure(const bench_run *r, double sequential, double needed, bench_measures *m) {
  double p = r->p;
  m->speedup = sequential * r->work / r->seconds;
  m->efficiency = m->speedup / p;
  m->cost = p * r->seconds;
  m->overhead = m->cost - sequential * r->work;
  m->karp_flatt = r->p > 1 ? (1 / m->speedup - 1 / p) / (1 - 1 / p) : NAN;
  m->super_linear = m->speedup > p * (1 + ROUNDING);
  split_overhead(r, needed, m);
}

/* --- all runs ----------------------------------------------------------------------------- */

static double residual(double law(double, double), double f, int n, const bench_run run[],
                       const bench_measures m[]) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += pow(law(f, run[i].p) / m[i].speedup - 1, 2);
  return sqrt(sum / n);
}

/* Both laws are lines through a fixed point: 1/S - 1/p = f (1 - 1/p), p - S = f (p - 1). */
static void fit_laws(int n, const bench_run run[], const bench_measures m[], bench_scaling *s) {
  double xy = 0, xx = 0, uv = 0, uu = 0;
  for (int i = 0; i < n; i++) {
    double p = run[i].p, x = 1 - 1 / p, u = p - 1;
    xy += x * (1 / m[i].speedup - 1 / p);
    xx += x * x;
    uv += u * (p - m[i].speedup);
    uu += u * u;
  }
  s->amdahl.f = xy / xx;
  s->gustafson.f = uv / uu;
  s->amdahl.residual = residual(bench_amdahl, s->amdahl.f, n, run, m);
  s->gustafson.residual = residual(bench_gustafson, s->gustafson.f, n, run, m);
}

/* The slope of log(cost / work) over log p, by least squares. */
static double cost_growth(int n, const bench_run run[], const bench_measures m[]) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (int i = 0; i < n; i++) {
    double a = log(run[i].p), b = log(m[i].cost / run[i].work);
    x += a / n;
    y += b / n;
    xx += a * a;
    xy += a * b;
  }
  return (xy - n * x * y) / (xx - n * x * x);
}

void bench_speedup(int n, const bench_run run[], double sequential, bench_measures measures[],
                   bench_scaling *s) {
  double needed = sequential;
  *s = (bench_scaling){.sequential = sequential, .strong = 1};
  if (!(sequential > 0)) {
    s->estimated = run[0].p > 1;
    s->sequential = run[0].p * run[0].seconds / run[0].work;
    needed = run[0].computation >= 0 ? run[0].computation / run[0].work : s->sequential;
  }
  for (int i = 0; i < n; i++) {
    measure(&run[i], s->sequential, needed, &measures[i]);
    s->strong &= run[i].work == run[0].work;
  }
  fit_laws(n, run, measures, s);
  s->growth = cost_growth(n, run, measures);
  s->cost_optimal = s->growth < COST_OPTIMAL;
}
