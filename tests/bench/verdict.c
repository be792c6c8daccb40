/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "verdict.h"

const char *const bench_verdict_name[BENCH_VERDICTS] = {"same", "faster", "slower"};

static int exceeds(const bench_time *large, const bench_time *small, double threshold) {
  return large->low > small->high && large->median > (1 + threshold) * small->median;
}

bench_verdict bench_judge(const bench_time *a, const bench_time *b, double threshold) {
  if (exceeds(b, a, threshold))
    return BENCH_SLOWER;
  return exceeds(a, b, threshold) ? BENCH_FASTER : BENCH_SAME;
}
