/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Batches of drawn cases, with a proof after each that the library works. */
#ifndef RUN_H
#define RUN_H

typedef struct {
  double seconds;
  unsigned long long seed;
  long first;       /* batch */
  const char *part; /* a word of the names of the cases; "": all */
} fuzz_plan;

/* Callers: all ranks, before rg_init. */
void fuzz_run(fuzz_plan plan);

#endif
