/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The command line of regroup-simulate. */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include "runtime/program/program.h"
#include "sim.h"

#define SIM_TEMPERING "tempering" /* a pattern of this program alone */

typedef struct {
  int64_t ranks[64];
  int ranks_count;
  const char **policies, **patterns; /* the last one is NULL */
  int64_t group, least, most, nodes;
  double late;  /* when the walkers that wait at first come */
  double bound; /* seconds of all work on all ranks; 0: the pattern's own */
  double unit;
  sim_machine machine;
  int view;
  uint64_t seed;
  int published; /* draw the published figure, with what was published */
  int quiet;
  const char *json, *svg;
} sim_options;

extern const rgp_program sim_options_program;

/* Reads the command line, on every rank alike. Returns 1 to go on, or 0 to end with
 * the exit status in *status. */
int sim_options_read(int argc, char **argv, int rank, sim_options *options, int *status);

#endif
