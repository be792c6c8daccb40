/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Operations that create groups by messages: merge, split, reassign, reserve. When a process
 * dies meanwhile, some of the living members may have the new group and others an error. Every
 * such operation therefore has an id that all its participants can compute, and the new group's
 * context is made from it. A participant that gets an error revokes the id. The members that
 * have the group then get an error, too, instead of waiting for a member that does not have it.
 *
 * The id mixes the context of the group, the tag, and the number of operations with this tag,
 * which the group counts for each tag. */
#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mix.h"
#include "formation/group.h"
#include "noded/client/overlay_client.h"
#include "shm/failure.h"

#define CREATION_ID 0x6e756d62u /* sets these ids apart from contexts */

typedef struct {
  int tag;
  uint32_t count;
} creation_count;

struct rgi_group_creations {
  int n;
  creation_count of[]; /* each tag once */
};

/* Threads may create groups out of one group at the same time, with different tags. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static creation_count *find_count(rgi_group_creations *f, int tag) {
  for (int i = 0; f && i < f->n; i++)
    if (f->of[i].tag == tag)
      return &f->of[i];
  return NULL;
}

static creation_count *add_count(rg_group g, int tag) {
  int n = g->creations ? g->creations->n : 0;
  rgi_group_creations *more =
      realloc(g->creations, sizeof *more + ((size_t)n + 1) * sizeof(creation_count));
  if (!more)
    return NULL;
  g->creations = more;
  more->n = n + 1;
  more->of[n] = (creation_count){tag, 0};
  return &more->of[n];
}

int rgi_group_creation_begin(rg_group g, int tag, uint64_t *id) {
  pthread_mutex_lock(&lock);
  creation_count *f = find_count(g->creations, tag);
  if (!f)
    f = add_count(g, tag);
  uint64_t count = f ? ++f->count : 0;
  pthread_mutex_unlock(&lock);
  if (!f)
    return rgi_error(RG_ERR_NOMEM, "no memory to count the creations of a group");
  *id = rgi_mix_bits(rgi_mix_bits(g->context + CREATION_ID) +
                     rgi_mix_bits(count << 32 | (uint32_t)tag)) |
        1;
  return RG_SUCCESS;
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
