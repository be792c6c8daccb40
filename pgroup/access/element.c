/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */

#include "access/element.h"

#include "access/kernel.h"

void rgi_element_accumulate(rgi_element_type type, void *to, const void *from, uint64_t n) {
  static const rgi_kernel_kind kinds[] = {[RGI_ELEMENT_INT32] = RGI_KERNEL_U32,
                                          [RGI_ELEMENT_INT64] = RGI_KERNEL_U64,
                                          [RGI_ELEMENT_FLOAT] = RGI_KERNEL_FLOAT,
                                          [RGI_ELEMENT_DOUBLE] = RGI_KERNEL_DOUBLE};
  rgi_kernel_plane plane = {1, (int64_t)n, 0, 0};
  rgi_kernel_of(kinds[type], RGI_KERNEL_ATOMIC_SUM)->run_plane(&plane, from, to, NULL);
}
