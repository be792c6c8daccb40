/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the collectives keep for a group, attached at its first operation: where
 * its members are, and which algorithms it is to use. */
#ifndef RGI_STATE_H
#define RGI_STATE_H

#include <regroup/collectives.h>
#include <stdint.h>

#include "collectives/force.h"
#include "collectives/local.h"
#include "collectives/schedule.h"

/* The members by nodes. Nodes are numbered in the order of their leaders: the
 * member of lowest rank on each. */
typedef struct {
  int count, mine;
  int in_order;     /* every node's members are consecutive ranks */
  int *first;       /* node n's members are by_node[first[n] .. first[n + 1] - 1] */
  int *by_node;     /* ranks, ascending on each node */
  int *of;          /* for each rank, its node */
  rgi_team inside;  /* the members on my node */
  rgi_team leaders; /* me: -1 unless the caller leads its node */
} rgi_nodes;

typedef struct rgi_state {
  rg_group group;
  uint64_t context;
  int sequence; /* operations so far: the tag of their messages */
  rgi_local *local;
  rgi_team everyone;
  rgi_nodes nodes; /* arrays are NULL when count is 1 */
  int forced_any;
  rgi_force forced[RG_OP_COUNT];
} rgi_state;

/* The state of a group that the caller is a member of: made now if need be. */
int rgi_state_of(const char *call, rg_group g, rgi_state **state);

/* The number of the next operation: the tag of its messages. */
static inline int rgi_count_operation(rgi_state *state) {
  int number = state->sequence;
  state->sequence = (number + 1) & ((1 << 30) - 1);
  return number;
}

/* The place of a rank of the group among the members on its node. */
int rgi_place_on_node(const rgi_state *state, int rank);

#endif
