/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A subgroup: some members of a group, in the order of their ranks in the group unless
 * said otherwise. The same algorithm so serves the group, the members on a node, and the
 * node leaders. */
#ifndef RGI_SUBGROUP_H
#define RGI_SUBGROUP_H

typedef struct {
  int size, me;     /* me: -1 for a process outside it */
  const int *ranks; /* in the group; NULL: all, in order */
} rgi_subgroup;

static inline int rgi_subgroup_rank(const rgi_subgroup *subgroup, int i) {
  return subgroup->ranks ? subgroup->ranks[i] : i;
}

#endif
