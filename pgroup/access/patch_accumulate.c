/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Accumulating: planes of two dimensions, by the kernels or by atomics. */

#include "access/element.h"
#include "access/kernel.h"
#include "access/patch.h"

static void combine_plane(const rgi_kernel *kernel, const rgi_kernel_plane *plane, const char *from,
                          char *to, const void *factor) {
  if (kernel->run_plane)
    kernel->run_plane(plane, from, to, factor);
  else
    for (int64_t i = 0; i < plane->rows; i++)
      kernel->run(from + i * plane->in_step, to + i * plane->inout_step, (size_t)plane->n);
}

void rgi_patch_combine(const rgi_kernel *kernel, const rgi_strided *strided, void *target,
                       const void *origin, const void *factor) {
  int64_t at[RGI_STRIDED_DIMS] = {0}, to = 0, from = 0, n = strided->extent[0] >> kernel->log;
  if (strided->dims == 1 && kernel->run) {
    kernel->run(origin, target, (size_t)n);
    return;
  }
  rgi_kernel_plane plane = {.rows = 1, .n = n};
  if (strided->dims > 1)
    plane = (rgi_kernel_plane){.rows = strided->extent[1],
                               .n = n,
                               .in_step = strided->origin_stride[1],
                               .inout_step = strided->target_stride[1]};
  do
    combine_plane(kernel, &plane, (const char *)origin + from, (char *)target + to, factor);
  while (rgi_strided_step(strided, at, &from, &to));
}

void rgi_patch_accumulate(rg_array_type type, const rgi_strided *strided, void *target,
                          const void *origin, const void *alpha) {
  static const rgi_kernel_kind kinds[RG_TYPE_OPAQUE] = {
      [RG_TYPE_INT32] = RGI_KERNEL_U32,
      [RG_TYPE_INT64] = RGI_KERNEL_U64,
      [RG_TYPE_FLOAT] = RGI_KERNEL_FLOAT,
      [RG_TYPE_DOUBLE] = RGI_KERNEL_DOUBLE,
      [RG_TYPE_FLOAT_COMPLEX] = RGI_KERNEL_FLOAT_COMPLEX,
      [RG_TYPE_DOUBLE_COMPLEX] = RGI_KERNEL_DOUBLE_COMPLEX};
  rgi_patch_combine(rgi_kernel_of(kinds[type], alpha ? RGI_KERNEL_SCALED_SUM : RGI_KERNEL_SUM),
                    strided, target, origin, alpha);
}

void rgi_patch_accumulate_atomic(rg_array_type type, const rgi_strided *strided, void *target,
                                 const void *origin, const void *alpha) {
  rgi_kernel_kind kind = type == RG_TYPE_INT32 ? RGI_KERNEL_U32 : RGI_KERNEL_U64;
  rgi_patch_combine(rgi_kernel_of(kind, RGI_KERNEL_ATOMIC_SUM), strided, target, origin, alpha);
}

void rgi_element_accumulate(rgi_element_type type, void *to, const void *from, uint64_t n) {
  static const rgi_kernel_kind kinds[] = {[RGI_ELEMENT_INT32] = RGI_KERNEL_U32,
                                          [RGI_ELEMENT_INT64] = RGI_KERNEL_U64,
                                          [RGI_ELEMENT_FLOAT] = RGI_KERNEL_FLOAT,
                                          [RGI_ELEMENT_DOUBLE] = RGI_KERNEL_DOUBLE};
  rgi_kernel_plane plane = {.rows = 1, .n = (int64_t)n};
  rgi_kernel_of(kinds[type], RGI_KERNEL_ATOMIC_SUM)->run_plane(&plane, from, to, NULL);
}
