/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Put and get of a part of each element, by the common path (access.h). */
#include "base/error.h"
#include "onesided/access.h"

/* rgi_access_patch checks all but the part. */
static int move_field(rgi_access *access, size_t offset, size_t size, const int64_t lo[],
                      const int64_t hi[], const int64_t ld[]) {
  RGI_TRY(rgi_array_check(access->call, access->a));
  size_t element = access->a->element;
  if (size == 0 || offset > element || size > element - offset)
    return rgi_error(RG_ERR_ARG, "%s: %zu bytes from byte %zu on; an element has %zu", access->call,
                     size, offset, element);
  access->part = size;
  access->part_at = offset;
  return rgi_access_patch(access, lo, hi, ld);
}

int rg_array_put_field(rg_array a, const int64_t lo[], const int64_t hi[], size_t offset,
                       size_t size, const void *buf, const int64_t ld[]) {
  rgi_access access = {
      .call = __func__, .a = a, .kind = RGI_ACCESS_KIND_PUT, .buf = (char *)(uintptr_t)buf};
  return move_field(&access, offset, size, lo, hi, ld);
}

int rg_array_get_field(rg_array a, const int64_t lo[], const int64_t hi[], size_t offset,
                       size_t size, void *buf, const int64_t ld[]) {
  rgi_access access = {.call = __func__, .a = a, .kind = RGI_ACCESS_KIND_GET, .buf = buf};
  return move_field(&access, offset, size, lo, hi, ld);
}
