/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The command line of regroup-mcmc --model. */
#ifndef POST_OPTIONS_H
#define POST_OPTIONS_H

#include <regroup.h>

#include "../chain/walker.h"
#include "runtime/program/program.h"

typedef struct {
  post_walker_setup setup; /* without the models */
  rg_policy policy;
  int group; /* initial group size */
  int unit;  /* steps in a unit of work */
  int check, quiet;
  const char *draws, *plot, *json; /* files, or NULL */
  const char *checkpoint;          /* where to save when that is due, or NULL */
  const char *kill;                /* which ranks die when, or NULL */
} post_options;

extern const rgp_program post_options_program;

/* "hmc" or "metropolis". */
const char *post_options_sampler_name(post_walker_sampler sampler);

/* Reads the command line, on every rank alike. Returns 1 to go on, or 0 to end
 * with the exit status in *status. */
int post_options_read(int argc, char **argv, int rank, post_options *o, int *status);

#endif
