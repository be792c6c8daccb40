/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Where the elements of a distribution are: which member owns an element, at which place of
 * the owner's memory it lies, and which blocks a member has. Local, without communication. */
#ifndef RGI_DISTRIBUTION_OWNER_H
#define RGI_DISTRIBUTION_OWNER_H

#include "distribution/distribution.h"

/* The member that owns an element. */
int rgi_distribution_owner(const rgi_distribution *layout, const int64_t at[]);

/* As rgi_distribution_owner, and the element's offset, in elements, in its owner's memory. The fast
 * path of put and get of single elements. */
int rgi_distribution_find(const rgi_distribution *layout, const int64_t at[], int64_t *offset);

/* A member's coordinates in the grid. Returns 0 if it has none. */
int rgi_distribution_place(const rgi_distribution *layout, int rank, int64_t at[]);

/* How many blocks a member has, and which patch the i-th one is. */
int64_t rgi_distribution_blocks(const rgi_distribution *layout, int rank);
void rgi_distribution_block(const rgi_distribution *layout, int rank, int64_t i, int64_t lo[],
                            int64_t hi[]);

/* Elements of a member's memory, ghosts included; 0 if its block is empty. */
int64_t rgi_distribution_extent(const rgi_distribution *layout, int rank);

/* The number of an element in C order. */
int64_t rgi_distribution_linear(const rgi_distribution *layout, const int64_t at[]);

#endif
