/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A sub-command of regroup-bench: one source file, and one row in main.c. */
#ifndef BENCH_COMMAND_H
#define BENCH_COMMAND_H

#include "report.h"
#include "runtime/program/program.h"

typedef struct {
  const char *name;                 /* "create" */
  const char *summary;              /* one sentence */
  const struct poptOption *options; /* its own, closed by POPT_TABLEEND */
  int pictured;                     /* --svg draws its rows */
  int between;                      /* also between two groups: --split, --spawn, --connect */
  int reads;                        /* only reads: the library is not started */
  int preloads;                     /* runs with libregroup-mpi.so preloaded */
  const char *arguments;            /* of a command that takes words: "FILE..." */
  /* Of such a command: looks at the words, closed by NULL, and what they name; as
   * check. */
  int (*read)(const char *const words[], char text[RGP_TEXT]);
  /* Looks at the parsed options, on every rank alike, MPI being
   * up; on a bad value writes a line to text and returns non-zero. */
  int (*check)(char text[RGP_TEXT]);
  /* Collective: measures, and on rank 0 fills the report, whose facts hold what
   * all commands tell already. Returns 1, or 0 on all ranks after one line on
   * standard error. */
  int (*run)(bench_report *report, rgp_progress *progress);
} bench_command;

extern const bench_command bench_create, bench_groups, bench_coll, bench_p2p, bench_arrays,
    bench_rma, bench_tune, bench_scaling_run, bench_analysis, bench_compare;

/* coll with its operation fixed: barrier, bcast, ... */
#define BENCH_FIXED 11
extern const bench_command bench_fixed[BENCH_FIXED];

#endif
