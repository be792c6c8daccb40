/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Members: an immutable list of distinct world ranks in an order. Pure: nothing
 * here communicates or knows the job.
 *
 * A list that is a range (first, first + stride, ...) is always kept as one, in
 * O(1) memory, however it was made; so equal lists have equal forms. Shared by
 * counting references; any thread. */
#ifndef RGI_MEMBERS_H
#define RGI_MEMBERS_H

#include <stdint.h>

typedef struct rgi_members rgi_members;

/* All make *members with one reference, or return RG_ERR_NOMEM. */

/* n >= 1 ranks from first in steps of stride (not 0). */
int rgi_members_range(int n, int first, int stride, rgi_members **members);

/* A copy of n >= 1 ranks. RG_ERR_RANK if one of them appears twice (the error text
 * names it). */
int rgi_members_list(const char *call, int n, const int ranks[], rgi_members **members);

/* The members of parent at positions at[0..n-1]. RG_ERR_RANK if a position is out
 * of range or appears twice. */
int rgi_members_pick(const char *call, const rgi_members *parent, int n, const int at[],
                     rgi_members **members);

/* The members of a, then those of b. RG_ERR_RANK if they share one. O(1) if the result
 * is a range made of two ranges. */
int rgi_members_concat(const char *call, const rgi_members *a, const rgi_members *b,
                       rgi_members **members);

/* Memory for n members, taken before their ranks are known: a call that must not fail later fills
 * in rgi_members_room_ranks and makes members of the first n of them. rgi_members_fill takes the
 * room over and allocates nothing. RG_ERR_RANK as rgi_members_list. */
int rgi_members_room(const char *call, int n, rgi_members **room);
int *rgi_members_room_ranks(rgi_members *room);
int rgi_members_fill(const char *call, rgi_members *room, int n, rgi_members **members);
void rgi_members_room_free(rgi_members *room); /* NULL is fine */

rgi_members *rgi_members_share(rgi_members *members);
void rgi_members_drop(rgi_members *members); /* NULL is fine */

int rgi_members_count(const rgi_members *members);
int rgi_members_at(const rgi_members *members, int position);

/* The position of a world rank, or -1. O(1) for ranges, else O(log n). */
int rgi_members_find(const rgi_members *members, int world_rank);
/* How many are on this node, living or dead. */
int rgi_members_here(const rgi_members *members);

/* The same ranks in the same order. O(1) for ranges. */
int rgi_members_equal(const rgi_members *a, const rgi_members *b);

/* A hash of the ranks in order: equal lists, equal hashes. O(1). */
uint64_t rgi_members_hash(const rgi_members *members);

/* A hash of the ranks in any order: equal sets, equal hashes. */
uint64_t rgi_members_set_hash(const rgi_members *members);

/* Whether the members are kept as a range; stride: 0 if not. */
int rgi_members_is_range(const rgi_members *members, int *first, int *stride);

/* Self-check. */
int rgi_members_valid(const rgi_members *members);

/* As ints for a message: {n, first, stride} and for a list (stride 0) the ranks.
 * packed has room for rgi_members_packed(members) ints. */
int rgi_members_packed(const rgi_members *members);
void rgi_members_pack(const rgi_members *members, int packed[]);
int rgi_members_packed_at(const int packed[], int position); /* a world rank */
int rgi_members_unpack(const char *call, const int packed[], rgi_members **members);

/* Those of the members on this node, in their order; the caller frees the list. NULL: there is one
 * memory node for all, or no memory for the list; then nothing is bound. */
int16_t *rgi_members_memory_nodes(const rgi_members *members);

#endif
