/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the collectives keep for a group, attached at its first operation: where
 * its members are, and which algorithms it is to use. */
#ifndef RGI_COLL_H
#define RGI_COLL_H

#include <regroup/collectives.h>
#include <stdint.h>

#include "collectives/force.h"
#include "collectives/sched.h"
#include "collectives/shm_coll.h"

/* The members by nodes. Nodes are numbered in the order of their leaders: the
 * member of lowest rank on each. */
typedef struct {
  int count, mine;
  int in_order;         /* every node's members are consecutive ranks */
  int *first;           /* node n's members are by_node[first[n] .. first[n + 1] - 1] */
  int *by_node;         /* ranks, ascending on each node */
  int *of;              /* for each rank, its node */
  rgi_subgroup inside;  /* the members on my node */
  rgi_subgroup leaders; /* me: -1 unless the caller leads its node */
} rgi_coll_nodes;

typedef struct rgi_coll {
  rg_group group;
  uint64_t context;
  int sequence; /* operations so far: the tag of their messages */
  rgi_shm_coll *shm;
  rgi_subgroup everyone;
  rgi_coll_nodes nodes; /* arrays are NULL when count is 1 */
  int forced_any;
  rgi_force forced[RG_OP_COUNT];
} rgi_coll;

/* The collective state of a group that the caller is a member of: made now if need be. */
int rgi_coll_get(const char *call, rg_group g, rgi_coll **coll);

/* The number of the next operation: the tag of its messages. */
static inline int rgi_coll_next_tag(rgi_coll *coll) {
  int number = coll->sequence;
  coll->sequence = (number + 1) & ((1 << 30) - 1);
  return number;
}

/* The place of a rank of the group among the members on its node. */
int rgi_coll_local_rank(const rgi_coll *coll, int rank);

#endif
