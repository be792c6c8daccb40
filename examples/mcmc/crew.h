/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A group at work: its formation, its units, its merging. All of these are
 * called by every member of the group (or of both groups that merge). */
#ifndef MCMC_CREW_H
#define MCMC_CREW_H

#include "run.h"

/* Forms the group that the rank is in at first. */
void mcmc_crew_form(mcmc_run *run);

/* Does one unit of the group's work. With listen the leader looks afterwards
 * whether another group wants to join; the return value is then that group's
 * leader, already told that it may, else -1. */
int mcmc_crew_unit(mcmc_run *run, int listen);

/* Becomes one group with the neighbour whose leader is that rank of the world:
 * the left one (which has finished) or the right one (whose work goes on). */
enum { MCMC_LEFT, MCMC_RIGHT };
void mcmc_crew_merge(mcmc_run *run, int leader, int side);

/* Becomes the group of the ranks first to last; the work is that of the group
 * that rank owner was the leader of. */
void mcmc_crew_regroup(mcmc_run *run, int first, int last, int owner);

/* The next unit starts, or should have started, at this time; not at the former
 * one's end. */
void mcmc_crew_restart(mcmc_run *run, double when);

/* When the samples done so far should have ended. */
double mcmc_crew_deadline(const mcmc_run *run);

/* Marks the timeline: the rank waits. */
void mcmc_crew_idle(mcmc_run *run);

/* Gives the group up. */
void mcmc_crew_leave(mcmc_run *run);

#endif
