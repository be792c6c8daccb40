/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The command line of regroup-posterior. */
#ifndef POST_OPTIONS_H
#define POST_OPTIONS_H

#include <regroup.h>

#include "runtime/program/program.h"
#include "walker.h"

typedef struct {
  post_walker_setup setup; /* without the models */
  rg_policy policy;
  int group, unit; /* initial group size; steps in a unit of work */
  int check, quiet;
  const char *draws, *json;      /* files, or NULL */
  const char *checkpoint, *kill; /* where to save when that is due; which ranks die when; or NULL */
} post_options;

extern const rgp_program post_options_program;

/* Reads the command line, on every rank alike. Returns 1 to go on, or 0 to end
 * with the exit status in *status. */
int post_options_read(int argc, char **argv, int rank, post_options *options, int *status);

#endif
