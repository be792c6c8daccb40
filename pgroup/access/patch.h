/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Copying and accumulating patches in memory, at the speed of memory: the innermost runs are memcpy
 * or loops that the compiler vectorises. The two memories of a patch must not overlap. */
#ifndef RGI_PATCH_H
#define RGI_PATCH_H

#include "access/kernel.h"
#include "access/strided.h"

/* Copies from the origin to the target, or back. */
void rgi_patch_put(const rgi_strided *strided, void *target, const void *origin);
void rgi_patch_get(const rgi_strided *strided, const void *target, void *origin);

/* target[i] = origin[i] op target[i] for elements of the kernel's kind. Not atomic. */
void rgi_patch_combine(const rgi_kernel *kernel, const rgi_strided *strided, void *target,
                       const void *origin, const void *factor);

/* target += *alpha * origin (alpha NULL: 1). Not atomic. Not for RG_TYPE_OPAQUE. */
void rgi_patch_accumulate(rg_array_type type, const rgi_strided *strided, void *target,
                          const void *origin, const void *alpha);

/* As rgi_patch_accumulate, for RG_TYPE_INT32 and RG_TYPE_INT64, atomic for each element
 * (element.h). */
void rgi_patch_accumulate_atomic(rg_array_type type, const rgi_strided *strided, void *target,
                                 const void *origin, const void *alpha);

#endif
