/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The events of a simulation, in the order of their times; of the same time in the
 * order in which they were added. */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include <stdint.h>

typedef struct {
  double time;
  int64_t number;
  int32_t group, stamp; /* void if the group's stamp is another by then */
  int kind;
} sim_event;

typedef struct {
  sim_event *at; /* a heap */
  int64_t count, room, added;
} sim_events;

/* Errors: RG_ERR_NOMEM. */
int sim_events_add(sim_events *events, sim_event event);

/* The next one; 0 if there is none. */
int sim_events_next(sim_events *events, sim_event *event);

#endif
