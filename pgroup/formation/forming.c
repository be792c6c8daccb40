/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Operations that form groups by messages. When somebody dies on the way, some of
 * those who live may have the new group and others an error. Every such operation
 * therefore has a number that all who take part know, the new group's context is made
 * from it, and who gets an error revokes it: then those who have the group do not wait
 * for the others in vain. */
#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "formation/context.h"
#include "formation/group.h"
#include "noded/mesh.h"
#include "shm/failure.h"

#define NUMBER 0x6e756d62u /* sets these numbers apart from contexts */

typedef struct {
  int tag;
  uint32_t count;
} forming;

struct rgi_formings {
  int n;
  forming of[]; /* each tag once */
};

/* Threads may form groups out of one group at the same time, with different tags. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static forming *find(rgi_formings *f, int tag) {
  for (int i = 0; f && i < f->n; i++)
    if (f->of[i].tag == tag)
      return &f->of[i];
  return NULL;
}

static forming *add(rg_group g, int tag) {
  int n = g->formings ? g->formings->n : 0;
  rgi_formings *more = realloc(g->formings, sizeof *more + ((size_t)n + 1) * sizeof(forming));
  if (!more)
    return NULL;
  g->formings = more;
  more->n = n + 1;
  more->of[n] = (forming){tag, 0};
  return &more->of[n];
}

int rgi_forming_begin(rg_group g, int tag, uint64_t *number) {
  pthread_mutex_lock(&lock);
  forming *f = find(g->formings, tag);
  if (!f)
    f = add(g, tag);
  uint64_t count = f ? ++f->count : 0;
  pthread_mutex_unlock(&lock);
  if (!f)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group's count");
  *number = rgi_mix(rgi_mix(g->context + NUMBER) + rgi_mix(count << 32 | (uint32_t)tag)) | 1;
  return RG_SUCCESS;
}

int rgi_forming_result(uint64_t number, int error) {
  if (error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED || error == RG_ERR_TIMEOUT ||
      error == RG_ERR_NOMEM)
    rgi_mesh_revoke(number);
  return error;
}

int rgi_forming_end(const uint64_t births[RGI_BIRTHS], uint32_t part, int apart,
                    rgi_members *members, int tag, rg_group *g) {
  uint64_t context = rgi_mix(births[0] + rgi_mix(births[1]) + part) | 1;
  RGI_TRY(rgi_group_with_context(members, tag, context, g));
  for (int i = 0; i < RGI_BIRTHS; i++)
    (*g)->births[i] = births[i];
  (*g)->apart = apart;
  return RG_SUCCESS;
}
