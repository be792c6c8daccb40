/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One collective at one size: MPI's own operation, the library's algorithms, MPI's
 * operation between two groups where there are any and on both together, MPI's operation as
 * libregroup-mpi.so serves it where that is preloaded, the first call of a fresh group and the
 * floor, in turn. A further contender is added in
 * begin of contest.c. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "operation.h"
#include "place.h"
#include "report.h"
#include "sampler.h"

#define BENCH_PICKS 24 /* the automatic choice and named algorithms */

typedef struct {
  const bench_place *place;
  rg_operation operation;
  int bytes;
  const char *algorithms[BENCH_PICKS]; /* "auto" and others, by the library's names */
  int algorithms_n;
  int serving;         /* without those that cannot serve this call */
  int fresh;           /* also the first call of a fresh group */
  bench_timing timing; /* BENCH_ONCE where fresh */
  int verify;
} bench_contest;

/* Whether there is a floor: the ranks outnumber the processors of their node, and each call needs
 * all ranks. Where calls follow one another with one root it need not. */
int bench_contest_has_floor(const bench_place *place, bench_timing timing);

/* Collective over the job. Rank 0's report gets a row for each contender.
 * Returns 1, or 0 on all ranks after one line on standard error. */
int bench_contest_run(const bench_contest *c, const bench_plan *plan, bench_report *report);

#endif
