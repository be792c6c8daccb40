/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each old member's elements are put into the new array by one survivor: one on its node, or, if
 * none is left there, one on the node of its holder (object/mirror.h). All survivors choose the
 * same ones, and agree on the newest version that every pair they use has. */
#include "regroup/rebuild.h"

#include <regroup/collectives.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "distribution/distribution_owner.h"
#include "distribution/piece.h"
#include "engine/engine.h"
#include "formation/group.h"
#include "object/mirror.h"
#include "shm/node.h"
#include "shm/process.h"

/* The result is the minimum over all survivors. */
typedef struct {
  uint64_t
      label; /* of the newest version in the pairs that the caller uses; UINT64_MAX: it uses none */
  uint64_t whole; /* 0: elements are lost */
  uint64_t fine;  /* the complement of the error's word */
} rebuild_state;

/* The rank in `to` of a survivor on a member's node, another one for each `turn`; -1. */
static int survivor_on_node(rg_array a, rg_group to, int member, int turn) {
  int found = 0;
  for (int pass = 0; pass < 2; pass++) {
    int which = found ? turn % found : 0;
    for (int i = 0; i < rgi_members_count(to->members); i++) {
      int world = rgi_members_at(to->members, i);
      if (rgi_node_of(world) != rgi_node_of(a->world[member]) ||
          rgi_members_find(a->group->members, world) < 0)
        continue;
      if (pass && which-- == 0)
        return i;
      found += !pass;
    }
  }
  return -1;
}

/* The rank in `to` that puts a member's elements, and, of a mirrored array, from which pair. */
static int find_source(rg_array a, rg_group to, int member, rgi_mirror_pair *pair) {
  int mirrored = rgi_array_is_mirrored(a), source = survivor_on_node(a, to, member, member);
  if (mirrored)
    *pair = rgi_mirror_own(a, member);
  if (source >= 0 || !mirrored)
    return source;
  *pair = rgi_mirror_copy(a, member);
  return survivor_on_node(a, to, pair->member, member);
}

static rebuild_state find_state(rg_array a, rg_group to, char *lost, size_t room) {
  rebuild_state s = {UINT64_MAX, 1, ~(uint64_t)0};
  for (int i = 0; a && i < a->members; i++) {
    rgi_mirror_pair pair;
    if (rgi_distribution_extent(&a->d, i) == 0)
      continue;
    int source = find_source(a, to, i, &pair);
    size_t used = strlen(lost);
    if (source < 0)
      snprintf(lost + used, room - used, "%s%d", used ? ", " : "", i);
    s.whole = s.whole && source >= 0;
    if (source != to->me || !rgi_array_is_mirrored(a))
      continue;
    uint64_t newest = rgi_mirror_newest(a, pair);
    s.label = newest < s.label ? newest : s.label;
  }
  return s;
}

static int put_blocks(rg_array a, rg_array b, int member, const char *memory) {
  for (int64_t i = 0; i < rgi_distribution_blocks(&a->d, member); i++) {
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
    rgi_pieces it;
    rgi_piece piece;
    rgi_distribution_block(&a->d, member, i, lo, hi);
    rgi_pieces_start(&it, &a->d, lo, hi);
    while (rgi_pieces_next(&it, &piece))
      RGI_TRY(rg_array_put(b, piece.lo, piece.hi, memory + piece.offset * (int64_t)a->element,
                           piece.ld));
  }
  return RG_SUCCESS;
}

static int put_all(rg_array a, rg_group to, rg_array b, uint64_t label) {
  for (int i = 0; a && i < a->members; i++) {
    rgi_mirror_pair pair;
    if (rgi_distribution_extent(&a->d, i) == 0 || find_source(a, to, i, &pair) != to->me)
      continue;
    RGI_TRY(put_blocks(
        a, b, i, rgi_array_is_mirrored(a) ? rgi_mirror_version(a, i, pair, label) : a->mapped[i]));
  }
  return rg_array_fence(b);
}

/* Completes what the caller has put into the old array. */
static int complete_own(rg_array a) {
  for (int i = 0; a && i < a->members; i++)
    if (!rgi_process_is_dead(a->world[i]))
      RGI_TRY(rgi_engine_fence(a->world[i]));
  return RG_SUCCESS;
}

int rgi_rebuild_array(rg_array a, rg_group to, rg_array b) {
  char lost[200] = "";
  rebuild_state s = find_state(a, to, lost, sizeof lost);
  int error = complete_own(a);
  s.fine = ~(uint64_t)rgi_group_error_word(to, error);
  RGI_TRY(rg_allreduce(to, MPI_IN_PLACE, &s, 3, MPI_UINT64_T, MPI_MIN));
  RGI_TRY(rgi_group_error_tell(to, "rg_array_recover", (int64_t)~s.fine, error));
  if (!s.whole)
    return rgi_error(RG_ERR_ARRAY,
                     "rg_array_recover: the elements of rank %s are lost: no process lives on the "
                     "node that had them%s",
                     lost[0] ? lost : "?",
                     a && rgi_array_is_mirrored(a) ? ", nor on the one that had the copy"
                                                   : ", and the array is not RG_ARRAY_MIRRORED");
  if (s.label == 0)
    return rgi_error(RG_ERR_ARRAY, "rg_array_recover: no rg_array_sync of this mirrored array had "
                                   "been ended: it has no state to go back to");
  return put_all(a, to, b, s.label);
}
