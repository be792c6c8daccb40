/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Patches that wrap around at the edges of the array. In each dimension such a patch has up to two
 * parts; every combination of them is moved as a patch of its own. */
#include "base/error.h"
#include "onesided/access.h"

/* The two parts of one dimension: start in the array, length, and start in the patch. */
typedef struct {
  int64_t from[2], length[2], at[2];
} wrapped_patch;

static wrapped_patch wrap_dimension(int64_t lo, int64_t length, int64_t shape) {
  int64_t from = shape > 0 ? lo % shape : 0;
  from += from < 0 ? shape : 0;
  int64_t first = length < shape - from ? length : shape - from;
  return (wrapped_patch){{from, 0}, {first, length - first}, {0, first}};
}

static int check_periodic(const rgi_access *access, const int64_t lo[], const int64_t hi[],
                          int64_t extent[]) {
  RGI_TRY(rgi_array_check(access->call, access->a));
  if (!lo || !hi)
    return rgi_error(RG_ERR_ARG, "%s: %s is NULL", access->call, lo ? "hi" : "lo");
  for (int d = 0; d < access->a->d.dims; d++) {
    if (lo[d] > hi[d])
      return rgi_error(RG_ERR_ARG, "%s: in dimension %d lo is %lld, above hi, %lld", access->call,
                       d, (long long)lo[d], (long long)hi[d]);
    if (__builtin_sub_overflow(hi[d], lo[d], &extent[d]) || extent[d] > access->a->d.shape[d])
      return rgi_error(RG_ERR_BOUNDS,
                       "%s: in dimension %d the patch from %lld to %lld is longer than the array, "
                       "%lld",
                       access->call, d, (long long)lo[d], (long long)hi[d],
                       (long long)access->a->d.shape[d]);
  }
  return RG_SUCCESS;
}

/* Bit d of `second` chooses the part of dimension d. */
static int move_wrapped_part(const rgi_access *access, const wrapped_patch wrapped[], int second,
                             const int64_t stride[]) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS], at = 0;
  for (int d = 0; d < access->a->d.dims; d++) {
    int k = second >> d & 1;
    if (wrapped[d].length[k] == 0)
      return RG_SUCCESS;
    lo[d] = wrapped[d].from[k];
    hi[d] = lo[d] + wrapped[d].length[k];
    at += wrapped[d].at[k] * stride[d];
  }
  rgi_access part = *access;
  part.buf += at * (int64_t)access->a->element;
  return rgi_access_pieces(&part, lo, hi, stride);
}

static int move_periodic(const rgi_access *access, const int64_t lo[], const int64_t hi[],
                         const int64_t ld[]) {
  wrapped_patch w[RG_ARRAY_MAX_DIMS];
  int64_t extent[RG_ARRAY_MAX_DIMS], stride[RG_ARRAY_MAX_DIMS];
  RGI_TRY(check_periodic(access, lo, hi, extent));
  RGI_TRY(rgi_access_check(access, extent, ld, stride));
  int dims = access->a->d.dims;
  for (int d = 0; d < dims; d++) {
    if (extent[d] == 0)
      return RG_SUCCESS;
    w[d] = wrap_dimension(lo[d], extent[d], access->a->d.shape[d]);
  }
  for (int second = 0; second < 1 << dims; second++)
    RGI_TRY(move_wrapped_part(access, w, second, stride));
  return RG_SUCCESS;
}

int rg_array_put_periodic(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                          const int64_t ld[]) {
  rgi_access access = {
      .call = __func__, .a = a, .kind = RGI_ACCESS_KIND_PUT, .buf = (char *)(uintptr_t)buf};
  return move_periodic(&access, lo, hi, ld);
}

int rg_array_get_periodic(rg_array a, const int64_t lo[], const int64_t hi[], void *buf,
                          const int64_t ld[]) {
  rgi_access access = {.call = __func__, .a = a, .kind = RGI_ACCESS_KIND_GET, .buf = buf};
  return move_periodic(&access, lo, hi, ld);
}

int rg_array_acc_periodic(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                          const int64_t ld[], const void *alpha) {
  rgi_access access = {.call = __func__,
                       .a = a,
                       .kind = RGI_ACCESS_KIND_ACC,
                       .buf = (char *)(uintptr_t)buf,
                       .alpha = alpha};
  return move_periodic(&access, lo, hi, ld);
}
