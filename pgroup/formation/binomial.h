/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A binomial tree over ranks 0 .. size-1 with its root at 0: the parent of a
 * rank is the rank without its lowest set bit. */
#ifndef RGI_BINOMIAL_H
#define RGI_BINOMIAL_H

/* The most children that a rank has: one for each bit of an int. */
#define RGI_BINOMIAL_CHILDREN 31

/* The parent, or -1 for the root. */
static inline int rgi_binomial_parent(int rank) {
  return rank ? rank & (rank - 1) : -1;
}

/* The children, nearest first: rank + 1, rank + 2, rank + 4, ... below the
 * rank's own lowest set bit. Returns how many. Child c's subtree is the ranks
 * c .. min(c + (c - rank), size) - 1. */
static inline int rgi_binomial_children(int rank, int size, int children[RGI_BINOMIAL_CHILDREN]) {
  int n = 0;
  for (long long bit = 1; rank + bit < size && !(rank & bit); bit *= 2)
    children[n++] = (int)(rank + bit);
  return n;
}

#endif
