/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What is behind a range of a file: memory where the file is in memory, or room on the disk. */
#ifndef RGI_BACKING_H
#define RGI_BACKING_H

#include <stdint.h>

/* Adds it where there is none; what the range holds stays. Returns 0 or a number of errno, never
 * EINTR; then a part of the range may have got it. */
int rgi_backing_add(int fd, uint64_t at, uint64_t bytes);

/* Gives it back to the system; the range is zero afterwards. 0 or a number of errno. */
int rgi_backing_drop(int fd, uint64_t at, uint64_t bytes);

#endif
