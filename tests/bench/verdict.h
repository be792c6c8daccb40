/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What can be said of two measurements of the same thing. No MPI, no files. */
#ifndef BENCH_VERDICT_H
#define BENCH_VERDICT_H

/* A median with the confidence interval around it. */
typedef struct {
  double median, low, high;
} bench_time;

typedef enum { BENCH_SAME, BENCH_FASTER, BENCH_SLOWER, BENCH_VERDICTS } bench_verdict;

/* "same", "faster", "slower". */
extern const char *const bench_verdict_name[BENCH_VERDICTS];

/* What b is against a: slower or faster where the intervals do not overlap and the
 * larger median is more than 1 + threshold times the smaller one; else the same. */
bench_verdict bench_judge(const bench_time *a, const bench_time *b, double threshold);

#endif
