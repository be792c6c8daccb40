/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a list of measured times says, without assuming how they are
 * distributed. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

typedef struct {
  int n;
  double min, q1, median, q3, max;
  double low, high; /* confidence interval of the median: bench_median_ranks, 95 % */
  int outliers;     /* further than 1.5 (q3 - q1) outside the quartiles (Tukey) */
} bench_stats;

/* The statistics of values[0..n-1], n >= 1, in any order. Quartiles are
 * interpolated linearly between neighbours in order (as R and NumPy do). Returns
 * 1, or 0 when there is no memory. */
int bench_stats_of(int n, const double values[], bench_stats *stats);

/* The order statistics *low and *high = n - 1 - *low, counted from 0, that lie
 * closest together and still enclose the median of the distribution with at
 * least this probability (binomial, for any continuous distribution). When n is
 * too small for that (below 6 for 95 %) they are the first and the last. */
void bench_median_ranks(int n, double confidence, int *low, int *high);

/* Half the confidence interval's width over the median; infinite while there are
 * too few values for an interval. */
double bench_precision(const bench_stats *stats);

#endif
