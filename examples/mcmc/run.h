/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The state of a rank during a run. */
#ifndef MCMC_RUN_H
#define MCMC_RUN_H

#include <mpi.h>
#include <regroup.h>
#include <regroup/array.h>

#include "../common/death.h"
#include "../common/saved.h"
#include "../common/survivors.h"
#include "options.h"
#include "plan.h"
#include "progress.h"
#include "walk.h"

typedef struct {
  mcmc_options o;
  mcmc_plan plan;
  int rank;
  rg_group world;
  common_survivors survivors;
  rg_balancer balancer;
  rg_timeline timeline; /* or NULL */
  mcmc_progress progress;
  int member, members; /* rank in the present group, and its size */
  double base;         /* when the first sample on this group began */
  int64_t worked;      /* samples since then */
  int counts;          /* visits are counted in the walkers' states: where a job survives on several
                          nodes, all ranks of one may die with their part of an array */
  common_deaths deaths;
  common_saved saved;
  double entered, began,
      ended; /* times: the barrier at the start, after it, the end of this rank's last walker */
  uint64_t executed; /* samples that this rank has done */
  rg_array visits;   /* of the present walker, on its group: how many units ended in each cell */
} mcmc_run;

#endif
