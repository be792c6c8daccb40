/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving processes between two groups: a handshake exchanges the members and the ranks that leave;
 * every process then computes the group that it will be in. */
#include <stdlib.h>

#include "base/error.h"
#include "formation/handshake.h"
#include "shm/failure.h"

/* One of the two groups, and its n ranks that leave it. */
typedef struct {
  const rgi_members *members;
  int n;
  const int *leaving;
} reassign_side;

/* The members of `home` that stay, then those of `away` that come; *members is NULL when
 * there are none. */
static int compose_members(const char *call, reassign_side home, reassign_side away,
                           rgi_members **members) {
  int size = rgi_members_count(home.members), count = 0;
  char *leaves = calloc((size_t)size, 1);
  int *ranks = malloc(((size_t)size + (size_t)away.n) * sizeof *ranks);
  int error = leaves && ranks ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  for (int i = 0; i < home.n && !error; i++)
    leaves[home.leaving[i]] = 1;
  for (int i = 0; i < size && !error; i++) {
    if (!leaves[i])
      ranks[count++] = rgi_members_at(home.members, i);
  }
  for (int i = 0; i < away.n && !error; i++)
    ranks[count++] = rgi_members_at(away.members, away.leaving[i]);
  *members = NULL;
  if (!error && count > 0)
    error = rgi_members_list(call, count, ranks, members);
  free(leaves);
  free(ranks);
  return error;
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
  rgi_members *members;
  RGI_TRY(rgi_group_check_member(__func__, mine));
  p.error = check_arguments(__func__, now, tag);
  if (!p.error)
    p.error = check_leaving(__func__, mine, n, leaving);
  if (p.error)
    p.n = 0;
  RGI_TRY(rgi_handshake(__func__, mine, &p, &peer));
  int leaves = 0;
  for (int i = 0; i < n; i++)
    leaves |= leaving[i] == mine->me;
  /* The id of the side that the caller will be on comes first. */
  const uint64_t creation_ids[RGI_CREATION_IDS] = {peer.id[leaves], peer.id[!leaves]};
  int diverged = peer.diverged;
  const reassign_side own = {mine->members, n, leaving},
                      other = {peer.members, peer.n, peer.leaving};
  int error = compose_members(__func__, leaves ? other : own, leaves ? own : other, &members);
  rgi_handshake_peer_free(&peer);
  return error ? error : rgi_group_creation_end(creation_ids, 0, diverged, members, tag, now);
}
