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
  /* Looks at the parsed options, on every rank alike, MPI being
   * up; on a bad value writes a line to text and returns non-zero. */
  int (*check)(char text[RGP_TEXT]);
  /* Collective: measures, and on rank 0 fills the report, whose facts hold what
   * all commands tell already. Returns 1, or 0 on all ranks after one line on
   * standard error. */
  int (*run)(bench_report *report, rgp_progress *progress);
} bench_command;

extern const bench_command bench_create, bench_groups, bench_coll;

#endif
