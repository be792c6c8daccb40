/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-ga: arrays against Global Arrays and against memory itself, in one run.
 * A case is one operation on one size, done by up to three contenders. */
#ifndef BENCH_GA_H
#define BENCH_GA_H

#include <ga.h>
#include <regroup.h>

/* Each rank's block of the arrays of doubles: rows of a 2-dimensional array, so that
 * both libraries divide it alike. */
#define BLOCK_ROWS 1024
#define COLUMNS 2048
#define SPOTS 8   /* places in a block that are used in turn */
#define BUFFERS 4 /* used in turn */

enum { OURS, THEIRS, MEMORY, CONTENDERS };

typedef struct ga_case ga_case;

/* What a case works with while it is measured. */
typedef struct {
  const ga_case *what;
  int ranks, rank;
  int target; /* whose block patches are on */
  rg_group world;
  rg_array a, b, c;
  int ga, gb, gc; /* handles of Global Arrays */
  int turn[CONTENDERS];
  double *buffer[BUFFERS]; /* also what the memory's contender works on */
  double *block;           /* the memory that an operation is compared on */
  long ld;
  double result[CONTENDERS];
  int64_t taken; /* by read-increments, of this rank */
} ga_work;

struct ga_case {
  const char *name, *size;
  int rows, columns; /* of the patch */
  int batch;
  int all;          /* every rank works, whatever is asked for */
  double least_gap; /* how far results may be off: for the check */
  /* Makes what the case needs, by all ranks, and gives it up. 1 or 0. */
  int (*begin)(ga_work *w);
  void (*end)(ga_work *w);
  /* One batch; and after it, whether the result is right. NULL or what is wrong. */
  const char *(*run[CONTENDERS])(void *work);
  const char *(*check[CONTENDERS])(void *work);
};

/* Cases are closed by one without a name. */
extern const ga_case ga_patch_cases[], ga_whole_cases[];

/* NGA_Create, which wants a name that it could change. */
static inline int ga_array(int type, int dims_n, int dims[], int chunk[]) {
  static char name[] = "bench";
  return NGA_Create(type, dims_n, dims, name, chunk);
}

/* Rank 0 puts into the last rank's block while that rank waits, and while it computes
 * for 0.3 s: medians in seconds. Collective. 1 or 0. */
int ga_busy(rg_group world, double *waiting, double *computing);

#endif
