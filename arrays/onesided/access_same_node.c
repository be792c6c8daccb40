/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving a piece by loads and stores. Puts and gets need no lock. Accumulates of integers are
 * processor atomics; others hold the owner's lock, which the processes of the node share. */
#include "access/patch.h"
#include "base/error.h"
#include "onesided/access_piece.h"

int rgi_access_accumulate(const rgi_access *access, int rank, const rgi_strided *patch, void *to,
                          const void *from) {
  rg_array a = access->a;
  if (a->type == RG_TYPE_INT32 || a->type == RG_TYPE_INT64) {
    rgi_patch_accumulate_atomic(a->type, patch, to, from, access->alpha);
    return RG_SUCCESS;
  }
  RGI_TRY(rgi_lock_acquire(&a->locks[rank], access->call));
  rgi_patch_accumulate(a->type, patch, to, from, access->alpha);
  rgi_lock_release(&a->locks[rank]);
  return RG_SUCCESS;
}

/* Several nodes: completes what this process has under way there by the engine. */
static int settle_patch(rg_array a, int rank, uint64_t at, const rgi_strided *patch) {
  return rgi_engine_settle(a->world[rank], a->heap_offsets[rank] + at,
                           rgi_strided_reach(patch, patch->target_stride));
}

int rgi_access_same_node(const rgi_access *access, int rank, uint64_t at, const rgi_strided *patch,
                         char *buf) {
  if (!access->a->one_node)
    RGI_TRY(settle_patch(access->a, rank, at, patch));
  char *memory = rgi_array_memory(access->a, rank) + at;
  switch (access->kind) {
  case RGI_ACCESS_KIND_PUT:
    rgi_patch_put(patch, memory, buf);
    return RG_SUCCESS;
  case RGI_ACCESS_KIND_GET:
    rgi_patch_get(patch, memory, buf);
    return RG_SUCCESS;
  default:
    return rgi_access_accumulate(access, rank, patch, memory, buf);
  }
}
