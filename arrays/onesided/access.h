/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving a patch between a buffer and an array: the patch is cut by owners, and each piece is moved
 * by loads and stores or through the engine. */
#ifndef RGI_ACCESS_H
#define RGI_ACCESS_H

#include "onesided/access_piece.h"

/* Checks all that the caller gave, then moves the elements. The buffer holds the elements lo,
 * lo + step, ... of each dimension. */
int rgi_access_patch(const rgi_access *access, const int64_t lo[], const int64_t hi[],
                     const int64_t ld[]);

/* Some of the checks: those of the array's type, and of the buffer for a patch with these extents
 * (ld NULL: dense with extent). stride: of the buffer, in elements, in each dimension. */
int rgi_access_check(const rgi_access *access, const int64_t extent[], const int64_t ld[],
                     int64_t stride[]);

/* Moves the elements without any check, and takes the strides of the buffer. */
int rgi_access_pieces(const rgi_access *access, const int64_t lo[], const int64_t hi[],
                      const int64_t stride[]);

#endif
