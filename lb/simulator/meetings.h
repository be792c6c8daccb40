/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers that meet, as a simulation plays them. The life of each walker has the same number of
 * rounds. In a round it does some units, which all take equally long; then it meets the walkers of
 * its set, and is set aside until all of them have come. After the last round it ends. */
#ifndef SIM_MEETINGS_H
#define SIM_MEETINGS_H

#include <stdint.h>

#include "machine.h"

/* Of round r and walker w at [r * walkers + w]. */
typedef struct {
  int64_t walkers, rounds;
  int64_t *units; /* at least 1 */
  double *cost;   /* seconds of a unit, as a multiple of those of other patterns */
  int32_t *next;  /* the next walker of its set, in a circle; itself: it meets nobody, and goes on.
                     Not used in the last round */
} sim_meetings;

/* The plan of examples/tempering: so many units for each walker; after every tenth it meets its
 * neighbour to the left and to the right in turn. Errors: RG_ERR_ARG (walkers or units < 1),
 * RG_ERR_NOMEM. */
int sim_meetings_tempering(int64_t walkers, int64_t units, sim_meetings *meetings);
void sim_meetings_free(sim_meetings *meetings);

/* The units of a walker from a round on. */
int64_t sim_meetings_units(const sim_meetings *meetings, int64_t walker, int64_t round);

/* The larger of all work on so many processes, and the longest chain of rounds and meetings on
 * walkers that have `each` processes; unit: seconds on one process. Errors: RG_ERR_NOMEM. */
int sim_meetings_bound(const sim_meetings *meetings, const sim_machine *machine, double unit,
                       int64_t ranks, int64_t each, double *seconds);

#endif
