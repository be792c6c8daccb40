/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving and combining patches in memory. Pure, and as fast as memory: dimensions
 * that lie side by side are joined first, the innermost runs are memcpy or loops
 * that the compiler vectorises. */
#ifndef RGI_PATCH_H
#define RGI_PATCH_H

#include <regroup/array.h>

/* extent: dims extents of the patch; ld: dims - 1 extents of the memory it lies in,
 * in elements (NULL: the patch's own). Any extent may be 0. Memory does not
 * overlap. */
void rgi_patch_copy(int dims, const int64_t extent[], size_t element, void *to,
                    const int64_t to_ld[], const void *from, const int64_t from_ld[]);

/* to += *alpha * from (alpha NULL: 1). Not atomic. Not for RG_OPAQUE. */
void rgi_patch_accumulate(rg_type type, int dims, const int64_t extent[], void *to,
                          const int64_t to_ld[], const void *from, const int64_t from_ld[],
                          const void *alpha);

/* The same for RG_INT32 and RG_INT64 with one processor atomic for each element. */
void rgi_patch_accumulate_atomic(rg_type type, int dims, const int64_t extent[], void *to,
                                 const int64_t to_ld[], const void *from, const int64_t from_ld[],
                                 const void *alpha);

#endif
