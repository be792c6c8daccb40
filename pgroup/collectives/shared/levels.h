/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The levels of a group's members on one node, as a tree: members on an L3 cache have a leader, the
 * leaders in a socket have one, and those of the node. A leader is the first member of those that
 * it leads, so the first member of all is the root. At each level at most RGI_LEVELS_FAN members
 * have the same leader; where there are more, the leaders of such runs meet at the next level. */
#ifndef RGI_LEVELS_H
#define RGI_LEVELS_H

#include "formation/members.h"
#include "shm/node.h"

#define RGI_LEVELS_FAN 16

/* A member's place in the tree. */
typedef struct {
  int parent;   /* -1: the root */
  int children; /* in ascending order, those on its own cache first */
  int child[];
} rgi_levels;

/* at: for each of n members, numbers from 0; NULL: not known. Every parent is less than its
 * children. Pure. RG_ERR_NOMEM. */
int rgi_levels_parents(int n, const rgi_node_cache at[], int parent[]);

/* Of the local member me of n; ranks: their places among the members, NULL: all, in order. NULL if
 * they are so few that they are one level, or share processors. Local. RG_ERR_NOMEM. */
int rgi_levels_make(const rgi_members *members, const int ranks[], int n, int me,
                    rgi_levels **levels);

#endif
