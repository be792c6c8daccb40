/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What earlier runs have left of each walker, by its id: its pace, and its last meeting. After
 * rgi_pace_table_share all processes have the same table; what a process notes afterwards it has
 * alone until the next time. */
#ifndef RGI_TEAM_PACE_TABLE_H
#define RGI_TEAM_PACE_TABLE_H

#include <regroup/policy.h>

#include "walkers/team/membership.h"

typedef struct {
  int64_t id;
  int64_t order; /* of two entries of a walker the one with the larger number counts */
  int64_t met;   /* the number of its last meeting + 1 */
  rg_pace pace;
} rgi_pace_table_entry;

typedef struct {
  rgi_pace_table_entry *at;
  int64_t count, room;
  int64_t shared; /* so many all processes have; they are sorted by ids */
} rgi_pace_table;

/* A walker has ended on this process. */
int rgi_pace_table_note(rgi_pace_table *paces, int64_t id, const rg_pace *pace, int64_t met);
/* All members call: the table becomes that of all. */
int rgi_pace_table_share(rgi_pace_table *paces, const rgi_membership *members);
/* The shared pace of an id, or NULL; and by it the seconds of a unit on one process, or 0. */
const rg_pace *rgi_pace_table_find(const rgi_pace_table *paces, int64_t id);
double rgi_pace_table_unit(const rgi_pace_table *paces, int64_t id);
/* The shared number of its last meeting + 1, or 0. */
int64_t rgi_pace_table_met(const rgi_pace_table *paces, int64_t id);
void rgi_pace_table_free(rgi_pace_table *paces);

#endif
