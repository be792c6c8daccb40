/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving processes between two groups: a handshake exchanges the members and the ranks that leave;
 * every process then computes the group that it will be in. */
#include "base/error.h"
#include "formation/handshake.h"
#include "shm/failure.h"

/* One of the two groups, and its n ranks that leave it. members: NULL: they are packed. */
typedef struct {
  const rgi_members *members;
  const int *packed;
  int n;
  const int *leaving;
} reassign_side;

static int side_count(const reassign_side *side) {
  return side->members ? rgi_members_count(side->members) : side->packed[0];
}

static int side_at(const reassign_side *side, int i) {
  return side->members ? rgi_members_at(side->members, i) : rgi_members_packed_at(side->packed, i);
}

/* The members of `home` that stay, then those of `away` that come. Returns how many. */
static int compose_members(const reassign_side *home, const reassign_side *away, int ranks[]) {
  int size = side_count(home), count = 0;
  for (int i = 0; i < size; i++)
    ranks[i] = side_at(home, i);
  for (int i = 0; i < home->n; i++)
    ranks[home->leaving[i]] = -1;
  for (int i = 0; i < size; i++)
    if (ranks[i] >= 0)
      ranks[count++] = ranks[i];
  for (int i = 0; i < away->n; i++)
    ranks[count++] = side_at(away, away->leaving[i]);
  return count;
}

static int check_arguments(const char *call, const rg_group *now, int tag) {
  return now ? rgi_group_check_tag(call, tag) : rgi_error(RG_ERR_ARG, "%s: now is NULL", call);
}

static int check_leaving(const char *call, rg_group mine, int n, const int leaving[]) {
  rgi_members *picked;
  if (n < 0 || (n > 0 && !leaving))
    return rgi_error(RG_ERR_ARG, "%s: a list of %d ranks", call, n);
  if (n == 0)
    return RG_SUCCESS;
  RGI_TRY(rgi_members_pick(call, mine->members, n, leaving, &picked));
  rgi_members_drop(picked);
  return RG_SUCCESS;
}

int rg_group_reassign(rg_group mine, rg_group parent, int remote_leader, int n, const int leaving[],
                      int tag, rg_group *now) {
  rgi_handshake_offer p = {.parent = parent,
                           .remote_leader = remote_leader,
                           .tag = tag,
                           .kind = RGI_HANDSHAKE_REASSIGN,
                           .n = n,
                           .leaving = leaving};
  rgi_handshake_peer peer;
  rgi_group_room room = {0};
  RGI_TRY(rgi_group_check_member(__func__, mine));
  p.error = check_arguments(__func__, now, tag);
  if (!p.error)
    p.error = check_leaving(__func__, mine, n, leaving);
  if (!p.error)
    p.error = rgi_group_room_alloc(__func__, rgi_runtime.size, &room);
  if (p.error && p.error != RG_ERR_NOMEM)
    p.n = 0;
  int error = rgi_handshake(__func__, mine, &p, &peer);
  if (error) {
    rgi_group_room_free(&room);
    return error;
  }
  int leaves = 0;
  for (int i = 0; i < n; i++)
    leaves |= leaving[i] == mine->me;
  /* The id of the side that the caller will be on comes first. */
  const uint64_t creation_ids[RGI_CREATION_IDS] = {peer.id[leaves], peer.id[!leaves]};
  int diverged = peer.diverged;
  const reassign_side own = {.members = mine->members, .n = n, .leaving = leaving},
                      other = {.packed = peer.members, .n = peer.n, .leaving = peer.leaving};
  int count = compose_members(leaves ? &other : &own, leaves ? &own : &other,
                              rgi_members_room_ranks(room.members));
  rgi_handshake_peer_free(&peer);
  return rgi_group_creation_fill(creation_ids, 0, diverged, &room, count, tag, now);
}
