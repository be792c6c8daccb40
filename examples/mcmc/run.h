/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a rank holds during a run. */
#ifndef MCMC_RUN_H
#define MCMC_RUN_H

#include <mpi.h>
#include <regroup.h>

#include "../../lb/timeline/timeline.h"
#include "board.h"
#include "options.h"
#include "plan.h"
#include "walker.h"

/* Tags of messages between all ranks (mcmc_run.world). */
enum { MCMC_REQUEST = 1, MCMC_ANSWER, MCMC_NOTICE };

/* The group that the rank is in, and the work of that group: the walker that it
 * is at and those that follow it in the list (walker + plan.groups, ...). The
 * same on all members. */
typedef struct {
  rg_group group;
  int first, size, rank;
  int64_t walker; /* at or past plan.walkers: none */
  int64_t done;   /* samples done of it */
  int64_t left;   /* units left in the whole list */
  mcmc_state state;
  double base;    /* when the first sample since the group's formation began */
  int64_t worked; /* samples since then */
} mcmc_crew;

typedef struct {
  mcmc_options o;
  mcmc_plan plan;
  int rank;
  rg_group world;
  MPI_Comm wire; /* the world's view: for what is done before and after the run */
  mcmc_crew crew;
  mcmc_board board;
  rgi_timeline timeline;
  double entered, began, ended; /* the barrier at the start, after it, own last walker */
  uint64_t executed;            /* samples that this rank did */
  uint64_t checksum;            /* of the walkers that this rank finished as a leader */
  int formations;               /* groups that it was in */
  int notices;                  /* sent, less those received */
} mcmc_run;

/* Ends the whole job with one line if a call of the library failed. */
void mcmc_must(int error, const char *call);

#endif
