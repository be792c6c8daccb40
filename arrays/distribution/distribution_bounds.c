/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/error.h"
#include "distribution/distribution.h"

static int outside_error(const rgi_distribution *layout, const char *call, int k, int64_t lo,
                         int64_t hi) {
  long long bound = layout->shape[k];
  if (lo > hi)
    return rgi_error(RG_ERR_ARG, "%s: dimension %d: the patch is from %lld to %lld", call, k,
                     (long long)lo, (long long)hi);
  if (lo < 0)
    return rgi_error(RG_ERR_BOUNDS, "%s: dimension %d: the patch starts at index %lld, below 0",
                     call, k, (long long)lo);
  return rgi_error(RG_ERR_BOUNDS,
                   "%s: dimension %d: the patch ends before index %lld, but the bound is %lld",
                   call, k, (long long)hi, bound);
}

int rgi_distribution_inside(const rgi_distribution *layout, const char *call, const int64_t lo[],
                            const int64_t hi[]) {
  for (int k = 0; k < layout->dims; k++)
    if (lo[k] < 0 || lo[k] > hi[k] || hi[k] > layout->shape[k])
      return outside_error(layout, call, k, lo[k], hi[k]);
  return RG_SUCCESS;
}
