/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The processes and groups of a simulation. Groups lie in a list from left to
 * right; their processes are pieces, runs of processes with the same history. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "sim.h"
#include "walkers.h"

enum { SIM_NONE = -1 };

typedef enum { SIM_IDLE, SIM_ASKING, SIM_WORKING, SIM_FORMING, SIM_GONE } sim_world_state;

typedef struct {
  int64_t ranks, coming; /* coming: in other groups, whose request is under way */
  int64_t walker;        /* its number, if left > 0 */
  int64_t left, done;    /* units of its walker when the stint began; left 0: idle */
  int64_t later;         /* units after its next meeting */
  double base, unit;     /* when the stint began; seconds for a unit in it */
  double seen;           /* when its request can be seen */
  double asks_at;        /* when it asks the policy about walkers that have come */
  int32_t stamp;         /* grows with every change: older events are void */
  int32_t previous, next;
  int32_t first, last; /* piece */
  int32_t asks;        /* the group that it asks, and the next one that asks the same */
  int32_t also;
  int32_t asked; /* the first of the groups whose requests have arrived */
  int32_t into;  /* the group that it has become a part of */
  int32_t stints;
  int32_t node; /* of all of its processes, from 1; 0: several */
  sim_world_state state;
  rg_pace pace;
} sim_world_group;

typedef struct {
  int64_t ranks;
  int32_t formed, next, node;
} sim_world_piece;

typedef struct {
  const sim_setup *setup;
  sim_world_group *group;
  sim_world_piece *piece;
  int32_t groups, pieces;
  int64_t groups_room, pieces_room;
  int32_t head;        /* the leftmost group */
  sim_walkers walkers; /* without a group */
  double last;         /* end of the last walker or formation so far */
  sim_result *result;  /* counts */
} sim_world;

/* Makes all groups, with their first walkers. */
int sim_world_start(sim_world *world, const sim_setup *setup, sim_result *result);
void sim_world_free(sim_world *world);

/* Splits so many processes off g: *part is the new group, to the right of g. Pointers into
 * world->group become invalid. */
int sim_world_split(sim_world *world, int32_t g, int64_t ranks, int32_t *part);

/* Makes the processes of `from` members of `to`. The caller then calls sim_world_formed. */
void sim_world_join(sim_world *world, int32_t to, int32_t from);

/* The group has been formed anew: all its processes are in one more group. */
void sim_world_formed(sim_world *world, int32_t g);

/* The group that g is a part of now. */
int32_t sim_world_now(const sim_world *world, int32_t g);

/* Seconds to form the group anew. */
double sim_world_formation(const sim_world *world, int32_t g);

/* Seconds for a unit on the group in its next stint. */
double sim_world_unit(const sim_world *world, int32_t g);

/* The row of the load table at a time: what was known after the last unit. */
rg_load sim_world_load(const sim_world *world, int32_t g, double time);

/* The group starts waiting walker number `at` of the last table. */
void sim_world_take(sim_world *world, int32_t g, int64_t at);

/* The group has done the units of its stint. Its walker ends, goes on with other units (left > 0
 * afterwards), or is set aside. *met: a meeting took place, and walkers wait. */
void sim_world_end_units(sim_world *world, int32_t g, int *met);

/* Counts the groups that the processes were in. */
void sim_world_count(const sim_world *world);

/* The two modes of balancing. Both run until no unit is left. */

/* Asynchronous: groups that become idle ask the policy, and then other groups, by messages. */
int sim_mode_async(sim_world *world);

/* Synchronous: after every policy.interval units all groups are formed anew by one plan. */
int sim_mode_sync(sim_world *world);

#endif
