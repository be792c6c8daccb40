/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Counting the cache lines of a shared state that a process reads and other processes have written,
 * or writes and other processes have used: each of them crosses between caches. In a build with
 * LINES=count; else nothing is counted, and nothing is spent. A wait counts once, however often it
 * looks. What the system copies from another process's memory is not counted. */
#ifndef RGI_LINES_COUNT_H
#define RGI_LINES_COUNT_H

#include <stdint.h>

#include "shm/lines.h"

typedef struct {
  uint64_t read, written;
} rgi_lines_count;

#ifdef RG_COUNT_LINES

/* Since the process has started. */
extern rgi_lines_count rgi_lines_count_now;

#define RGI_LINES_COUNT_READ(lines) (rgi_lines_count_now.read += (uint64_t)(lines))
#define RGI_LINES_COUNT_WRITTEN(lines) (rgi_lines_count_now.written += (uint64_t)(lines))

#else

#define RGI_LINES_COUNT_READ(lines) ((void)(lines))
#define RGI_LINES_COUNT_WRITTEN(lines) ((void)(lines))

#endif

/* So many bytes of a chunk. */
#define RGI_LINES_COUNT_OF(bytes) (((bytes) + RGI_LINE - 1) / RGI_LINE)

#endif
