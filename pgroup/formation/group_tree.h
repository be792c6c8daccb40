/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Broadcast and gather of small blocks inside a group, along a binomial tree of
 * messages. Used while groups are formed; the group's own collectives are another
 * matter. */
#ifndef RGI_GROUP_TREE_H
#define RGI_GROUP_TREE_H

#include <regroup/group.h>
#include <stdint.h>
#include <string.h>

/* Member 0's block of *count ints goes to all. The others get memory of their
 * own, which they free; member 0 passes its own block in *ints. */
int rgi_group_tree_broadcast(rg_group g, int tag, const char *call, int *count, int **ints);

/* Every member's block of `width` ints, in the order of ranks, to member 0:
 * all[size * width] there, unused elsewhere. */
int rgi_group_tree_gather(rg_group g, int tag, const char *call, int width, const int mine[],
                          int all[]);

/* Waits for a message of ints of any number, and gives them in memory that the
 * caller frees. source: a world rank. */
int rgi_group_tree_receive(uint64_t context, int source, int tag, const char *call, int *count,
                           int **ints);

/* A number takes two of the ints. */
static inline void rgi_group_tree_put_uint64(int ints[2], uint64_t number) {
  memcpy(ints, &number, sizeof number);
}

static inline uint64_t rgi_group_tree_get_uint64(const int ints[2]) {
  uint64_t number;
  memcpy(&number, ints, sizeof number);
  return number;
}

#endif
