/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A range takes no memory for its ranks. A list keeps, behind its ranks, their positions in
 * ascending order of rank, so that a rank is found by bisection. What is made is normalised: a list
 * that is a range becomes one, so that equal members compare field by field. */
#include "formation/members.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "shm/node.h"

struct rgi_members {
  atomic_int references;
  int n, first, stride; /* stride 0: a list */
  uint64_t hash, set;   /* of the list; of its ranks in ascending order */
  int ranks[];          /* a list: n ranks, then n positions in ascending order of rank */
};

_Static_assert(sizeof(struct rgi_members) <= 64, "a range is small");

static uint64_t hash_of_range(int n, int first, int stride) {
  return rgi_mix_bits(rgi_mix_bits((uint64_t)n << 32 | (uint32_t)first) + (uint32_t)stride);
}

static void fill_range(rgi_members *members, int n, int first, int stride) {
  atomic_init(&members->references, 1);
  members->n = n;
  members->first = first;
  members->stride = n == 1 ? 1 : stride;
  members->hash = hash_of_range(n, first, members->stride);
  members->set = members->stride > 0
                     ? members->hash
                     : hash_of_range(n, first + (n - 1) * members->stride, -members->stride);
}

int rgi_members_range(int n, int first, int stride, rgi_members **members) {
  rgi_members *r = rgi_spare_alloc(sizeof *r);
  if (!r)
    return rgi_error(RG_ERR_NOMEM, "no memory for a range of members");
  fill_range(r, n, first, stride);
  *members = r;
  return RG_SUCCESS;
}

/* The stride of a list that is a range, or 0. */
static int stride_of(int n, const int ranks[]) {
  int stride = n > 1 ? ranks[1] - ranks[0] : 1;
  for (int i = 2; i < n && stride; i++)
    if (ranks[i] - ranks[i - 1] != stride)
      stride = 0;
  return stride;
}

static int by_rank(const void *a, const void *b, void *ranks) {
  int x = ((const int *)ranks)[*(const int *)a], y = ((const int *)ranks)[*(const int *)b];
  return (x > y) - (x < y);
}

/* Fills order[] with the positions of ranks[] in ascending order. */
static int sort_positions(const char *call, int n, int ranks[], int order[]) {
  for (int i = 0; i < n; i++)
    order[i] = i;
  qsort_r(order, (size_t)n, sizeof *order, by_rank, ranks);
  for (int i = 1; i < n; i++)
    if (ranks[order[i]] == ranks[order[i - 1]])
      return rgi_error(RG_ERR_RANK, "%s: rank %d of the world is named twice", call,
                       ranks[order[i]]);
  return RG_SUCCESS;
}

/* Of a list whose positions have been sorted. The same as of a range with these ranks. */
static uint64_t hash_of_set(const rgi_members *members) {
  const int *order = members->ranks + members->n, first = members->ranks[order[0]];
  int stride = members->n > 1 ? members->ranks[order[1]] - first : 1;
  uint64_t hash = (uint64_t)members->n << 32;
  for (int i = 0; i < members->n; i++) {
    hash = rgi_mix_bits(hash + (uint32_t)members->ranks[order[i]]);
    stride = members->ranks[order[i]] == first + i * stride ? stride : 0;
  }
  return stride ? hash_of_range(members->n, first, stride) : hash;
}

int rgi_members_list(const char *call, int n, const int ranks[], rgi_members **members) {
  int stride = stride_of(n, ranks);
  if (stride)
    return rgi_members_range(n, ranks[0], stride, members);
  rgi_members *room;
  RGI_TRY(rgi_members_room(call, n, &room));
  memcpy(room->ranks, ranks, (size_t)n * sizeof *ranks);
  return rgi_members_fill(call, room, n, members);
}

int rgi_members_room(const char *call, int n, rgi_members **room) {
  *room = rgi_spare_alloc(sizeof **room + 2 * (size_t)n * sizeof *(*room)->ranks);
  return *room ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", call, n);
}

int *rgi_members_room_ranks(rgi_members *room) {
  return room->ranks;
}

/* Gives back what the members do not take of the room, where the system can. */
static rgi_members *shrink_room(rgi_members *room) {
  size_t ranks = room->stride ? 0 : 2 * (size_t)room->n;
  return rgi_spare_shrink(room, sizeof *room + ranks * sizeof *room->ranks);
}

int rgi_members_fill(const char *call, rgi_members *room, int n, rgi_members **members) {
  int *ranks = room->ranks, stride = stride_of(n, ranks),
      error = stride ? RG_SUCCESS : sort_positions(call, n, ranks, ranks + n);
  if (error) {
    rgi_spare_free(room);
    return error;
  }
  if (stride) {
    fill_range(room, n, ranks[0], stride);
  } else {
    atomic_init(&room->references, 1);
    room->n = n;
    room->first = ranks[0];
    room->stride = 0;
    room->hash = (uint64_t)n << 32;
    for (int i = 0; i < n; i++)
      room->hash = rgi_mix_bits(room->hash + (uint32_t)ranks[i]);
    room->set = hash_of_set(room);
  }
  *members = shrink_room(room);
  return RG_SUCCESS;
}

void rgi_members_room_free(rgi_members *room) {
  rgi_spare_free(room);
}

int rgi_members_pick(const char *call, const rgi_members *parent, int n, const int at[],
                     rgi_members **members) {
  if (n > parent->n) /* before the list is read */
    return rgi_error(RG_ERR_RANK, "%s: a list of %d ranks; the group has %d members", call, n,
                     parent->n);
  for (int i = 0; i < n; i++)
    if (at[i] < 0 || at[i] >= parent->n)
      return rgi_error(RG_ERR_RANK, "%s: rank %d; the group's ranks go from 0 to %d", call, at[i],
                       parent->n - 1);
  int stride = stride_of(n, at);
  if (stride && parent->stride)
    return rgi_members_range(n, rgi_members_at(parent, at[0]), parent->stride * stride, members);
  rgi_members *room;
  RGI_TRY(rgi_members_room(call, n, &room));
  for (int i = 0; i < n; i++)
    room->ranks[i] = rgi_members_at(parent, at[i]);
  return rgi_members_fill(call, room, n, members);
}

/* Whether a followed by b is a range of this stride. */
static int continues_range(const rgi_members *a, const rgi_members *b, int *stride) {
  if (!a->stride || !b->stride)
    return 0;
  int last = rgi_members_at(a, a->n - 1);
  *stride = a->n > 1 ? a->stride : b->first - last;
  return *stride && b->first == last + *stride && (b->n == 1 || b->stride == *stride);
}

int rgi_members_concat(const char *call, const rgi_members *a, const rgi_members *b,
                       rgi_members **members) {
  int stride;
  if (a->n > INT_MAX - b->n)
    return rgi_error(RG_ERR_RANK, "%s: the two groups share a process", call);
  int n = a->n + b->n;
  if (continues_range(a, b, &stride))
    return rgi_members_range(n, a->first, stride, members);
  rgi_members *room;
  RGI_TRY(rgi_members_room(call, n, &room));
  for (int i = 0; i < n; i++)
    room->ranks[i] = i < a->n ? rgi_members_at(a, i) : rgi_members_at(b, i - a->n);
  return rgi_members_fill(call, room, n, members);
}

rgi_members *rgi_members_share(rgi_members *members) {
  atomic_fetch_add_explicit(&members->references, 1, memory_order_relaxed);
  return members;
}

void rgi_members_drop(rgi_members *members) {
  if (members && atomic_fetch_sub(&members->references, 1) == 1)
    rgi_spare_free(members);
}

int rgi_members_count(const rgi_members *members) {
  return members->n;
}

int rgi_members_at(const rgi_members *members, int position) {
  return members->stride ? members->first + position * members->stride : members->ranks[position];
}

static int find_in_list(const rgi_members *members, int world_rank) {
  const int *order = members->ranks + members->n;
  int low = 0, high = members->n - 1;
  while (low <= high) {
    int middle = low + (high - low) / 2, rank = members->ranks[order[middle]];
    if (rank == world_rank)
      return order[middle];
    if (rank < world_rank)
      low = middle + 1;
    else
      high = middle - 1;
  }
  return -1;
}

int rgi_members_find(const rgi_members *members, int world_rank) {
  if (!members->stride)
    return find_in_list(members, world_rank);
  long long distance = (long long)world_rank - members->first;
  return distance % members->stride == 0 && distance / members->stride >= 0 &&
                 distance / members->stride < members->n
             ? (int)(distance / members->stride)
             : -1;
}

int rgi_members_equal(const rgi_members *a, const rgi_members *b) {
  if (a == b)
    return 1;
  if (a->n != b->n || a->first != b->first || a->stride != b->stride)
    return 0;
  return a->stride || memcmp(a->ranks, b->ranks, (size_t)a->n * sizeof *a->ranks) == 0;
}

uint64_t rgi_members_hash(const rgi_members *members) {
  return members->hash;
}

uint64_t rgi_members_set_hash(const rgi_members *members) {
  return members->set;
}

int rgi_members_is_range(const rgi_members *members, int *first, int *stride) {
  *first = members->first;
  *stride = members->stride;
  return members->stride != 0;
}

int rgi_members_valid(const rgi_members *members) {
  if (members->n < 1 || members->references < 1)
    return 0;
  if (members->stride)
    return members->first >= 0 && rgi_members_at(members, members->n - 1) >= 0;
  for (int i = 1; i < members->n; i++)
    if (members->ranks[members->ranks[members->n + i - 1]] >=
        members->ranks[members->ranks[members->n + i]])
      return 0;
  return members->ranks[members->ranks[members->n]] >= 0 &&
         stride_of(members->n, members->ranks) == 0;
}

int rgi_members_packed(const rgi_members *members) {
  return 3 + (members->stride ? 0 : members->n);
}

void rgi_members_pack(const rgi_members *members, int packed[]) {
  packed[0] = members->n;
  packed[1] = members->first;
  packed[2] = members->stride;
  if (!members->stride)
    memcpy(packed + 3, members->ranks, (size_t)members->n * sizeof *members->ranks);
}

int rgi_members_packed_at(const int packed[], int position) {
  return packed[2] ? packed[1] + position * packed[2] : packed[3 + position];
}

int rgi_members_unpack(const char *call, const int packed[], rgi_members **members) {
  return packed[2] ? rgi_members_range(packed[0], packed[1], packed[2], members)
                   : rgi_members_list(call, packed[0], packed + 3, members);
}

int rgi_members_here(const rgi_members *members) {
  int here = 0;
  for (int i = 0; i < rgi_node.n; i++)
    here += rgi_members_find(members, rgi_node.ranks[i]) >= 0;
  return here;
}

int16_t *rgi_members_memory_nodes(const rgi_members *members) {
  int n = 0;
  int16_t *nodes =
      rgi_node.memory ? malloc((size_t)rgi_members_count(members) * sizeof *nodes) : NULL;
  for (int i = 0; nodes && i < rgi_members_count(members); i++) {
    int place = rgi_node_find(rgi_members_at(members, i));
    if (place >= 0)
      nodes[n++] = rgi_node.memory[place];
  }
  return nodes;
}
