/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Operations that create groups by messages: merge, split, reassign, reserve. When a process
 * dies meanwhile, some of the living members may have the new group and others an error. Every
 * such operation therefore has an id that all its participants can compute, and the new group's
 * context is made from it. A participant that gets an error revokes the id. The members that
 * have the group then get an error, too, instead of waiting for a member that does not have it.
 *
 * The id mixes the context of the group and the number of its operations. They are collective
 * calls: one thread at a time, in the same order on all members. The tag is no part of it, since
 * one member may pass a wrong one. */
#include <stdlib.h>

#include "base/error.h"
#include "base/mix.h"
#include "formation/group.h"
#include "noded/client/overlay_client.h"
#include "shm/failure.h"

#define CREATION_ID 0x6e756d62u /* sets these ids apart from contexts */

uint64_t rgi_group_creation_begin(rg_group g) {
  uint64_t count = g->is_world ? ++rgi_runtime.world_creations : ++g->creations;
  return rgi_mix_bits(rgi_mix_bits(g->context + CREATION_ID) + rgi_mix_bits(count)) | 1;
}

int rgi_group_creation_result(uint64_t id, int error) {
  if (error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED || error == RG_ERR_TIMEOUT ||
      error == RG_ERR_NOMEM)
    rgi_overlay_revoke(id);
  return error;
}

int rgi_group_creation_end(const uint64_t creation_ids[RGI_CREATION_IDS], uint32_t part,
                           int diverged, rgi_members *members, int tag, rg_group *g) {
  uint64_t context = rgi_mix_bits(creation_ids[0] + rgi_mix_bits(creation_ids[1]) + part) | 1;
  RGI_TRY(rgi_group_with_context(members, tag, context, g));
  for (int i = 0; i < RGI_CREATION_IDS; i++)
    (*g)->creation_ids[i] = creation_ids[i];
  (*g)->diverged = diverged;
  return RG_SUCCESS;
}
