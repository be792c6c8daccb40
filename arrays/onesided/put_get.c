/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Put, get and accumulate, with and without steps. A single element on one node takes a fast path
 * (single.h); everything else, errors included, the common one (access.h). */
#include "base/error.h"
#include "onesided/access.h"
#include "onesided/single.h"

int rg_array_put(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                 const int64_t ld[]) {
  int rank;
  char *at = a && a->one_node ? rgi_single_patch(a, lo, hi, &rank) : NULL;
  if (at && buf) {
    rgi_single_copy(at, buf, a->element);
    return RG_SUCCESS;
  }
  rgi_access access = {
      .call = __func__, .a = a, .kind = RGI_ACCESS_KIND_PUT, .buf = (char *)(uintptr_t)buf};
  return rgi_access_patch(&access, lo, hi, ld);
}

int rg_array_get(rg_array a, const int64_t lo[], const int64_t hi[], void *buf,
                 const int64_t ld[]) {
  int rank;
  const char *at = a && a->one_node ? rgi_single_patch(a, lo, hi, &rank) : NULL;
  if (at && buf) {
    rgi_single_copy(buf, at, a->element);
    return RG_SUCCESS;
  }
  rgi_access access = {.call = __func__, .a = a, .kind = RGI_ACCESS_KIND_GET, .buf = buf};
  return rgi_access_patch(&access, lo, hi, ld);
}

int rg_array_acc(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                 const int64_t ld[], const void *alpha) {
  int rank;
  char *at = a && a->one_node ? rgi_single_patch(a, lo, hi, &rank) : NULL;
  rgi_access access = {.call = __func__,
                       .a = a,
                       .kind = RGI_ACCESS_KIND_ACC,
                       .buf = (char *)(uintptr_t)buf,
                       .alpha = alpha};
  if (at && buf && a->type != RG_TYPE_OPAQUE) {
    rgi_strided one = rgi_strided_flat((int64_t)a->element);
    return rgi_access_accumulate(&access, rank, &one, at, buf);
  }
  return rgi_access_patch(&access, lo, hi, ld);
}

int rg_array_put_strided(rg_array a, const int64_t lo[], const int64_t hi[], const int64_t step[],
                         const void *buf, const int64_t ld[]) {
  rgi_access access = {.call = __func__,
                       .a = a,
                       .kind = RGI_ACCESS_KIND_PUT,
                       .buf = (char *)(uintptr_t)buf,
                       .step = step};
  RGI_REQUIRE(step);
  return rgi_access_patch(&access, lo, hi, ld);
}

int rg_array_get_strided(rg_array a, const int64_t lo[], const int64_t hi[], const int64_t step[],
                         void *buf, const int64_t ld[]) {
  rgi_access access = {
      .call = __func__, .a = a, .kind = RGI_ACCESS_KIND_GET, .buf = buf, .step = step};
  RGI_REQUIRE(step);
  return rgi_access_patch(&access, lo, hi, ld);
}

int rg_array_acc_strided(rg_array a, const int64_t lo[], const int64_t hi[], const int64_t step[],
                         const void *buf, const int64_t ld[], const void *alpha) {
  rgi_access access = {.call = __func__,
                       .a = a,
                       .kind = RGI_ACCESS_KIND_ACC,
                       .buf = (char *)(uintptr_t)buf,
                       .alpha = alpha,
                       .step = step};
  RGI_REQUIRE(step);
  return rgi_access_patch(&access, lo, hi, ld);
}
