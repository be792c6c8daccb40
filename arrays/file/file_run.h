/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A member's elements in the order in which a file has them that stores the array in C order. */
#ifndef RGI_FILE_RUN_H
#define RGI_FILE_RUN_H

#include "../distribution/distribution.h"

typedef struct {
  const rgi_distribution *d;
  int64_t first[RG_ARRAY_MAX_DIMS], end[RG_ARRAY_MAX_DIMS]; /* of the member's first block */
  int64_t at[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS]; /* the next element; the end of its block */
  int more;
} rgi_file_runs;

/* n elements that are contiguous in the file and in memory; offsets, in elements, from the start of
 * the array and of the member's memory. */
typedef struct {
  int64_t n, file, memory;
} rgi_file_run;

void rgi_file_runs_start(rgi_file_runs *it, const rgi_distribution *layout, int rank);
/* The longest next run, but at most `most` elements; 0: there is none. */
int rgi_file_runs_next(rgi_file_runs *it, int64_t most, rgi_file_run *run);

#endif
