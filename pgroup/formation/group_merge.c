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

int rg_group_merge(rg_group mine, rg_group parent, int remote_leader, int high, int tag,
                   rg_group *merged) {
  rgi_handshake_offer p = {.parent = parent,
                           .remote_leader = remote_leader,
                           .tag = tag,
                           .kind = RGI_HANDSHAKE_MERGE,
                           .high = high};
  rgi_handshake_peer peer;
  rgi_members *all;
  RGI_TRY(rgi_group_check_member(__func__, mine));
  p.error = check_arguments(__func__, merged, high, tag);
  RGI_TRY(rgi_handshake(__func__, mine, &p, &peer));
  const uint64_t creation_ids[RGI_CREATION_IDS] = {peer.id[high], peer.id[!high]};
  int diverged = peer.diverged,
      error = high ? rgi_members_concat(__func__, peer.members, mine->members, &all)
                   : rgi_members_concat(__func__, mine->members, peer.members, &all);
  rgi_handshake_peer_free(&peer);
  return error ? error : rgi_group_creation_end(creation_ids, 0, diverged, all, tag, merged);
}
