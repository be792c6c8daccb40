/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One collective operation, called again and again: ours on a group, or MPI's on
 * all ranks. */
#ifndef BENCH_OPERATION_H
#define BENCH_OPERATION_H

#include <regroup.h>

#include "runtime/program/program.h"

#define BENCH_BUFFERS 4 /* used in turn, so that data are not always in the cache */

/* How calls follow one another. */
typedef enum {
  BENCH_ROTATING, /* roots and buffers rotate; short calls are repeated in one run */
  BENCH_ONCE,     /* roots and buffers rotate; no call is repeated */
  BENCH_EACH,     /* one root, one buffer; each call is timed alone, and a barrier follows it */
  BENCH_STREAM,   /* one root, one buffer; calls are repeated, and nothing is between them */
  BENCH_TIMINGS
} bench_timing;

/* "each", "stream"; NULL: the first two, which need no name. */
extern const char *const bench_timing_name[BENCH_TIMINGS];

typedef struct {
  rg_operation operation;
  bench_timing timing;
  double spent;   /* BENCH_EACH: seconds inside the calls of the last run */
  int preloaded;  /* MPI's functions as the program finds them, not MPI's own */
  rg_group group; /* ours; NULL: MPI's on comm */
  MPI_Comm comm;
  const rg_inter_view *between; /* comm is its inter-communicator; NULL: it is none */
  int ranks, bytes, turn;       /* bytes: of a block or vector */
  int roots, buffers;           /* the root and the buffers of a turn are one of so many */
  int rank;                     /* of this process among the ranks: of its own group */
  int share;                    /* doubles that a reduce_scatter leaves here */
  int batch;                    /* calls in a row that make one measurement */
  char *send[BENCH_BUFFERS], *receive[BENCH_BUFFERS];
} bench_operation;

/* Parts "bcast,barrier", or "all" of them; forms with blocks of different sizes are not
 * known here. Returns how many, or -1 after writing what is wrong to why. */
int bench_operations_parse(const char *text, rg_operation operations[RG_OP_COUNT],
                           char why[RGP_TEXT]);

/* The number of an algorithm of the operation; -1: there is none of this name. */
int bench_algorithm_find(rg_operation operation, const char *name);

/* An operation on comm, by MPI; where o->group is set afterwards, on the group of the same
 * processes. between: where comm is an inter-communicator. Local. Returns 1, or 0 when there
 * is no memory. */
int bench_operation_begin(bench_operation *o, rg_operation operation, MPI_Comm comm,
                          const rg_inter_view *between, int bytes, bench_timing timing);
void bench_operation_end(bench_operation *o);

/* How many calls of so many bytes make one measurement. */
int bench_operation_batch(int bytes, bench_timing timing);

/* Once, on o->group or, if it is NULL, by MPI on o->comm. Returns what the
 * library returned. */
int bench_operation_call(bench_operation *o);

/* A batch of it, as contenders run: context is a bench_operation. BENCH_EACH: some calls that
 * are not timed come first. */
const char *bench_operation_run(void *context);

/* One call with operands that are known, and whether its result is right: run and
 * finish of a contender that is verified. */
const char *bench_operation_run_marked(void *context);
const char *bench_operation_verify(void *context);

#endif
