/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Hardware levels by brute force: sets of ranks as bits, and every object of the
 * machine looked at. Shares no code with the library. */
#ifndef ORACLE_H
#define ORACLE_H

#include <hwloc.h>
#include <regroup.h>
#include <stdint.h>

#define ORACLE_RANKS 64

typedef uint64_t rank_set;

/* A pretended machine on every node, and where the ranks of the job are. */
typedef struct {
  hwloc_topology_t machine;
  int ranks;
  int node[ORACLE_RANKS];
  hwloc_bitmap_t bound[ORACLE_RANKS]; /* NULL: not bound */
} oracle;

/* The largest set of ranks of `all` that holds `rank`, is smaller than `all`, and
 * shares something that passes the filter; 0 if there is none. */
rank_set oracle_below(const oracle *o, rank_set all, int rank, int filter);

/* How many such sets there are below `all`, and how many begin with a lower rank
 * than `mine`. */
int oracle_siblings(const oracle *o, rank_set all, int filter, rank_set mine, int *index);

/* The ranks of `all` that share the rank's resource of a type; 0: it has none. */
rank_set oracle_sharing(const oracle *o, rank_set all, int rank, hwloc_obj_type_t type);

/* Whether `type` is a kind of resource that exactly these ranks share, and the
 * outermost such kind that passes the filter. `all`: the ranks
 * that count. */
int oracle_is_outermost(const oracle *o, rank_set all, rank_set set, int filter, const char *type);

/* Whether `type` is a kind of resource that contains these ranks, and nothing
 * smaller does. */
int oracle_is_lowest(const oracle *o, rank_set set, const char *type);

#endif
