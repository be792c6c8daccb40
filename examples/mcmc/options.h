/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The command line of regroup-mcmc. */
#ifndef MCMC_OPTIONS_H
#define MCMC_OPTIONS_H

#include <regroup/policy.h>
#include <stdint.h>

#include "runtime/program/program.h"

typedef struct {
  const char *balance; /* how the policy was named */
  rg_policy policy;
  const char *pattern; /* of work, or NULL: the published one */
  double bound;  /* seconds that all work takes on all ranks, with a pattern; 0: its own units */
  int group;     /* initial group size */
  int walkers;   /* 0: one for each group */
  int samples;   /* a walker with key R has (R mod 32) times so many */
  int unit;      /* samples in a unit */
  double sample; /* seconds for a sample on one rank, scaled */
  int spin;      /* use the processor instead of sleeping */
  uint64_t seed;
  double scale;
  int progress; /* show it although standard error is no terminal */
  int quiet;
  const char *trace, *json, *chrome, *spans; /* names of files, or NULL */
  const char *checkpoint;                    /* where to save when that is due, or NULL */
  const char *kill;                          /* a schedule, or NULL */
} mcmc_options;

extern const rgp_program mcmc_options_program;

/* Reads the command line, on every rank alike. Returns 1 to go on, or 0 to end
 * with the exit status in *status. */
int mcmc_options_read(int argc, char **argv, int rank, mcmc_options *options, int *status);

#endif
