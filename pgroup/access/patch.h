/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Copying and accumulating patches in memory, at the speed of memory: dimensions that are
 * contiguous in both memories are joined first (patch_plan.h), and the innermost runs are memcpy or
 * loops that the compiler vectorises. */
#ifndef RGI_PATCH_H
#define RGI_PATCH_H

#include <regroup/array.h>

/* extent: dims extents of the patch; to_ld, from_ld: dims - 1 extents of the memory that it lies
 * in, in elements (NULL: the patch's own). Any extent may be 0. The two memories must not
 * overlap. */
void rgi_patch_copy(int dims, const int64_t extent[], size_t element, void *to,
                    const int64_t to_ld[], const void *from, const int64_t from_ld[]);

/* to += *alpha * from (alpha NULL: 1). Not atomic. Not for RG_TYPE_OPAQUE. */
void rgi_patch_accumulate(rg_array_type type, int dims, const int64_t extent[], void *to,
                          const int64_t to_ld[], const void *from, const int64_t from_ld[],
                          const void *alpha);

/* The same for RG_TYPE_INT32 and RG_TYPE_INT64, atomic for each element (element.h). */
void rgi_patch_accumulate_atomic(rg_array_type type, int dims, const int64_t extent[], void *to,
                                 const int64_t to_ld[], const void *from, const int64_t from_ld[],
                                 const void *alpha);

#endif
