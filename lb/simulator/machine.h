/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The costs of the machine that is simulated. */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <stdint.h>

enum { SIM_SIZES = 32 };

typedef struct {
  const char *name;
  int sizes; /* measured times of forming a group, by its size, ascending */
  double size[SIM_SIZES], seconds[SIM_SIZES];
  double latency;  /* of a small message, seconds */
  int steps;       /* messages one after another for each doubling of a group, by which
                      its members agree after a unit: 2, an allreduce */
  double per_rank; /* of an exchange of all loads, seconds for each rank */
  double startup;  /* once, with any balancing, seconds for each doubling of the ranks */
  int polls;       /* times that a group must look before it sees a request */
  int idle_join;   /* other groups may join an idle group */
  double jitter;   /* the time of a unit differs by this fraction from group to group */
  double between;  /* seconds by which a small message between nodes takes longer */
  double serial;   /* fraction of a unit that does not shrink with the group (Amdahl) */
} sim_machine;

/* "published", "free" (nothing costs anything), or a result file of regroup-bench
 * create. Errors: RG_ERR_ARG. */
int sim_machine_read(const char *name, sim_machine *machine);

/* A fixed time for forming any group, instead of the measured ones. */
void sim_machine_fix(sim_machine *machine, double seconds);

/* Seconds to form a group of so many processes. Between the measured sizes by a
 * power of the size; above them with the square of the logarithm, as the recursive
 * creation needs; below them as at the smallest. */
double sim_machine_formation(const sim_machine *machine, int64_t ranks);

/* Seconds to exchange the loads of all ranks (an allgather). */
double sim_machine_exchange(const sim_machine *machine, int64_t ranks);

/* Seconds in which a group's members agree after a unit. */
double sim_machine_agreement(const sim_machine *machine, int64_t ranks);

/* What policies are told of it: seconds by which forming a group, and each of its units, takes
 * longer if it is on several nodes, the larger of both. */
double sim_machine_cross(const sim_machine *machine);

/* Seconds that a run with balancing takes before it begins. */
double sim_machine_startup(const sim_machine *machine, int64_t ranks);

/* The time of a unit on a group, as a multiple of the time on one process. */
double sim_machine_speed(const sim_machine *machine, int64_t ranks);

#endif
