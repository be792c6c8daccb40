/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The processes and groups of a simulation. Groups lie in a list from left to
 * right; their processes are pieces, runs of processes with the same history. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "sim.h"

enum { SIM_NONE = -1 };

typedef enum { SIM_IDLE, SIM_ASKING, SIM_WORKING, SIM_FORMING, SIM_GONE } sim_world_state;

typedef struct {
  int64_t ranks, coming; /* coming: in other groups, whose request is under way */
  int64_t left, done;    /* units of its walker when the stint began; left 0: idle */
  double base, unit;     /* when the stint began; seconds for a unit in it */
  double seen;           /* when its request can be seen */
  int32_t stamp;         /* grows with every change: older events are void */
  int32_t previous, next;
  int32_t first, last; /* piece */
  int32_t asks;        /* the group that it asks, and the next one that asks the same */
  int32_t also;
  int32_t asked; /* the first of the groups whose requests have arrived */
  int32_t into;  /* the group that it has become a part of */
  int32_t stints;
  sim_world_state state;
  rg_pace pace;
} sim_world_group;

typedef struct {
  int64_t ranks;
  int32_t formed, next;
} sim_world_piece;

typedef struct {
  const sim_setup *setup;
  sim_world_group *group;
  sim_world_piece *piece;
  int32_t groups, groups_room, pieces, pieces_room;
  int32_t head;            /* the leftmost group */
  int64_t walker;          /* the next one that waits */
  rg_waiting_walker *line; /* the walkers that wait, as a policy sees them */
  double last;             /* end of the last walker or formation so far */
  sim_result *result;      /* counts */
} sim_world;

/* Makes all groups, with their first walkers. */
int sim_world_start(sim_world *w, const sim_setup *setup, sim_result *result);
void sim_world_free(sim_world *w);

/* Splits so many processes off g: *part is the new group, to the right of g. Pointers into w->group
 * become invalid. */
int sim_world_split(sim_world *w, int32_t g, int64_t ranks, int32_t *part);

/* Makes the processes of `from` members of `to`. The caller then calls sim_world_formed. */
void sim_world_join(sim_world *w, int32_t to, int32_t from);

/* The group has been formed anew: all its processes are in one more group. */
void sim_world_formed(sim_world *w, int32_t g);

/* The group that g is a part of now. */
int32_t sim_world_now(const sim_world *w, int32_t g);

/* Seconds for a unit on the group in its next stint. */
double sim_world_unit(const sim_world *w, int32_t g);

/* The row of the load table at a time: what was known after the last unit. */
rg_load sim_world_load(const sim_world *w, int32_t g, double time);

/* How many walkers wait at a time; fills t->waiting with the first of them. */
int64_t sim_world_waits(const sim_world *w, double time);
void sim_world_waiting(sim_world *w, double time, rg_load_table *t);

/* The group starts the first waiting walker. */
void sim_world_take(sim_world *w, int32_t g);

/* Counts the groups that the processes were in. */
void sim_world_count(const sim_world *w);

#endif
