/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The choice of holders, and where the pairs of versions are (mirror.h). The pairs in a holder's
 * memory: its own, then those of the members that it holds, in the order of their ranks. All
 * members compute the same places from the members' nodes and the distribution. */
#include "object/mirror.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/heap.h"
#include "formation/group.h"
#include "shm/node.h"

static uint64_t round_up(uint64_t bytes) {
  return (bytes + RGI_LINE - 1) / RGI_LINE * RGI_LINE;
}

static uint64_t pair_bytes(rg_array a, int rank) {
  uint64_t bytes = rgi_mirror_elements(a, rank);
  return bytes ? RGI_LINE + 2 * round_up(bytes) : 0;
}

/* --- holders ---------------------------------------------------------------------------- */

static int node_of(rg_array a, int rank) {
  return rgi_node_of(rgi_members_at(a->group->members, rank));
}

/* How many members before this one are on the same node. */
static int place_on_node(rg_array a, int rank) {
  int place = 0;
  for (int i = 0; i < rank; i++)
    place += node_of(a, i) == node_of(a, rank);
  return place;
}

/* The holder's node is that of the next rank, cyclically, that is on another node. Of the members
 * there the one with the same place on its node is taken, so that all hold about as much. */
static int holder_of(rg_array a, int rank) {
  int next = rank, on_node = 0;
  do
    next = (next + 1) % a->members;
  while (node_of(a, next) == node_of(a, rank) && next != rank);
  for (int i = 0; i < a->members; i++)
    on_node += node_of(a, i) == node_of(a, next);
  int place = place_on_node(a, rank) % on_node;
  for (int i = 0; i < a->members; i++)
    if (node_of(a, i) == node_of(a, next) && place-- == 0)
      return i;
  return next;
}

int rgi_mirror_open(rg_array a) {
  a->holders = malloc((size_t)a->members * sizeof *a->holders);
  if (!a->holders)
    return rgi_error(RG_ERR_NOMEM, "rg_array_create: no memory for %d members", a->members);
  for (int i = 0; i < a->members; i++)
    a->holders[i] = holder_of(a, i);
  return RG_SUCCESS;
}

/* --- offsets ------------------------------------------------------------------------------ */

uint64_t rgi_mirror_start(rg_array a, int rank) {
  return round_up(rgi_mirror_elements(a, rank) + 1);
}

/* From the start of the holder's pairs to the pair of that owner, or to the end. */
static uint64_t before_replica(rg_array a, int holder, int owner) {
  uint64_t at = pair_bytes(a, holder);
  for (int i = 0; i < owner; i++)
    if (a->holders[i] == holder)
      at += pair_bytes(a, i);
  return at;
}

uint64_t rgi_mirror_bytes(rg_array a) {
  return before_replica(a, a->me, a->members);
}

rgi_mirror_pair rgi_mirror_own(rg_array a, int rank) {
  return (rgi_mirror_pair){rank, a->heap_offsets[rank] + rgi_mirror_start(a, rank)};
}

rgi_mirror_pair rgi_mirror_copy(rg_array a, int rank) {
  int holder = a->holders[rank];
  rgi_mirror_pair p = rgi_mirror_own(a, holder);
  p.offset += before_replica(a, holder, rank);
  return p;
}

void rgi_mirror_clear(rg_array a, char *pairs) {
  for (int i = 0; i < a->members; i++)
    if (a->holders[i] == a->me && rgi_mirror_elements(a, i))
      memset(pairs + before_replica(a, a->me, i), 0, RGI_LINE);
  if (rgi_mirror_elements(a, a->me))
    memset(pairs, 0, RGI_LINE);
}

static uint64_t version_at(rg_array a, int rank, uint64_t label) {
  return RGI_LINE + (label % 2) * round_up(rgi_mirror_elements(a, rank));
}

uint64_t rgi_mirror_newest(rg_array a, rgi_mirror_pair p) {
  const uint64_t *labels = rgi_heap_at(a->world[p.member], p.offset);
  return labels[0] > labels[1] ? labels[0] : labels[1];
}

void rgi_mirror_label(rg_array a, rgi_mirror_pair p, uint64_t label) {
  volatile uint64_t *labels = rgi_heap_at(a->world[p.member], p.offset);
  atomic_thread_fence(memory_order_release);
  labels[label % 2] = label;
}

char *rgi_mirror_version(rg_array a, int rank, rgi_mirror_pair p, uint64_t label) {
  char *pair = rgi_heap_at(a->world[p.member], p.offset);
  return pair + version_at(a, rank, label);
}
