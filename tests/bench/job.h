/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The processes that take part in the run: those of MPI_COMM_WORLD, or with --split,
 * --spawn and --connect two groups between which is measured. */
#ifndef BENCH_JOB_H
#define BENCH_JOB_H

#include <jansson.h>
#include <mpi.h>
#include <regroup.h>

#include "runtime/program/program.h"

typedef struct {
  rg_inter_options how; /* as the command line says */
  MPI_Comm comm;        /* all that take part; rank 0 reads and writes */
  int rank, ranks;      /* in comm */
  rg_inter_view view;   /* of the two groups; is_inter is 0 where there are none */
} bench_job;

extern bench_job bench_all;

/* Takes the options of the groups out of the command line, before any other is looked at.
 * Returns 1, or 0 after one line on rank 0's standard error. */
int bench_job_parse(int *argc, char **argv);

/* Whether two groups are asked for, and their kind's option as "--split". */
int bench_job_grouped(void);
const char *bench_job_option(void);

/* Starts the library, and the groups before it. Collective over MPI_COMM_WORLD. A process in
 * reserve sleeps here, and *part is 0 where it was not needed. Returns 1, or 0 after one
 * line on standard error. bench_job_end ends both, in any case. */
int bench_job_start(const char *program, int *part);
void bench_job_end(void);

/* The contender that is MPI's operation between the groups: "MPI split". */
const char *bench_job_contender(void);

/* How the groups were made, for the file of results; nothing where there are none. */
void bench_job_tell(json_t *facts);

/* " between 2 and 4 ranks (split)" or " on 6 ranks". */
void bench_job_describe(int ranks, char text[64]);

#endif
