/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walkers of a simulation that no group works on: they wait for a group, the longest first, or
 * are set aside until all that they meet are there. */
#ifndef SIM_WALKERS_H
#define SIM_WALKERS_H

#include "sim.h"

/* A walker that meets others. */
typedef struct {
  int64_t round, done; /* units that it has done */
  int64_t awaited;     /* walkers that are set aside until it comes */
  int aside;
  double unit; /* seconds on one process, as measured; 0: not yet */
} sim_walkers_one;

typedef struct {
  const sim_setup *setup;
  int64_t *line; /* those that wait are line[first..first+count-1] */
  int64_t first, count;
  sim_walkers_one *one; /* of each walker; NULL: no walkers meet */
  rg_waiting_walker *shown;
} sim_walkers;

/* All walkers wait, in the order of the pattern. Errors: RG_ERR_NOMEM. */
int sim_walkers_start(sim_walkers *walkers, const sim_setup *setup);
void sim_walkers_free(sim_walkers *walkers);

/* The walkers that are left after the first groups have been made are put into order. */
void sim_walkers_sort(sim_walkers *walkers);

/* How many wait at a time; fills t->waiting with the first of them. */
int64_t sim_walkers_waiting(const sim_walkers *walkers, double time);
void sim_walkers_show(sim_walkers *walkers, double time, rg_load_table *table);

/* The first one that waits, or waiting walker number `at` of the last table; it waits no more. */
int64_t sim_walkers_take_first(sim_walkers *walkers);
int64_t sim_walkers_take_shown(sim_walkers *walkers, int64_t at);

/* The units that a walker does until it meets others or ends, and those after them. */
int64_t sim_walkers_units(const sim_walkers *walkers, int64_t walker);
int64_t sim_walkers_later(const sim_walkers *walkers, int64_t walker);
/* Seconds of a unit on one process. */
double sim_walkers_unit(const sim_walkers *walkers, int64_t walker);

/* What becomes of a walker that has done these units. */
typedef enum { SIM_WALKERS_ENDS, SIM_WALKERS_GOES_ON, SIM_WALKERS_MEETS } sim_walkers_next;
sim_walkers_next sim_walkers_end_round(sim_walkers *walkers, int64_t walker);

/* Sets the walker aside. If all that it meets are there, they wait for groups afterwards; returns
 * whether that is so. O(walkers that meet or wait). */
int sim_walkers_set_aside(sim_walkers *walkers, int64_t walker);

#endif
