/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Merging two groups into one: a handshake exchanges the members. */
#include "base/error.h"
#include "formation/handshake.h"
#include "shm/failure.h"

static int check_arguments(const char *call, const rg_group *merged, int high, int tag) {
  if (!merged)
    return rgi_error(RG_ERR_ARG, "%s: merged is NULL", call);
  if (high != 0 && high != 1)
    return rgi_error(RG_ERR_ARG, "%s: high is %d; it is 0 or 1", call, high);
  return rgi_group_check_tag(call, tag);
}

/* theirs: packed. Returns how many there are. */
static int join_members(const rgi_members *mine, const int theirs[], int high, int ranks[]) {
  int own = rgi_members_count(mine), others = theirs[0];
  for (int i = 0; i < own; i++)
    ranks[(high ? others : 0) + i] = rgi_members_at(mine, i);
  for (int i = 0; i < others; i++)
    ranks[(high ? 0 : own) + i] = rgi_members_packed_at(theirs, i);
  return own + others;
}

int rg_group_merge(rg_group mine, rg_group parent, int remote_leader, int high, int tag,
                   rg_group *merged) {
  rgi_handshake_offer p = {.parent = parent,
                           .remote_leader = remote_leader,
                           .tag = tag,
                           .kind = RGI_HANDSHAKE_MERGE,
                           .high = high};
  rgi_handshake_peer peer;
  rgi_group_room room = {0};
  RGI_TRY(rgi_group_check_member(__func__, mine));
  p.error = check_arguments(__func__, merged, high, tag);
  if (!p.error)
    p.error = rgi_group_room_alloc(__func__, rgi_runtime.size, &room);
  int error = rgi_handshake(__func__, mine, &p, &peer);
  if (error) {
    rgi_group_room_free(&room);
    return error;
  }
  const uint64_t creation_ids[RGI_CREATION_IDS] = {peer.id[high], peer.id[!high]};
  int diverged = peer.diverged,
      n = join_members(mine->members, peer.members, high, rgi_members_room_ranks(room.members));
  rgi_handshake_peer_free(&peer);
  return rgi_group_creation_fill(creation_ids, 0, diverged, &room, n, tag, merged);
}
