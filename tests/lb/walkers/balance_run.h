/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Balancers of the walkers of balance_work.h under every policy, and what all of them end with. */
#ifndef TESTS_BALANCE_RUN_H
#define TESTS_BALANCE_RUN_H

#include <stdio.h>
#include <stdlib.h>

#include "balance_work.h"
#include "world.h"

static const char *const policies[] = {
    "none",      "join-right",       "sync:i=1",      "sync:i=3",           "most-work",
    "share-out", "release:gain=0.5", "share-out:i=2", "release:i=1,gain=1", "share-out:cost=0"};
enum { POLICIES = sizeof policies / sizeof *policies };

typedef struct {
  const char *policy;
  int group, walkers;
} shape;

static inline rg_balancer made(const shape *s, work_context *context, rg_balance_options options) {
  rg_walker_kind kind = work_kind(context);
  rg_policy policy = {.size = sizeof policy};
  rg_balancer b = NULL;
  RGT_OK(rg_policy_parse(s->policy, &policy));
  options.policy = &policy;
  options.group = s->group;
  RGT_OK(rg_balance_create(world, &kind, &options, &b));
  context->b = b;
  for (int w = 0; w < s->walkers; w++) {
    rg_walker_new new = {.size = sizeof new, .id = w, .left = (double)work_units(w)};
    RGT_OK(rg_balance_add(b, &new));
  }
  return b;
}

/* All outcomes at rank 0, each walker once. */
static inline void check_all(rg_balancer balancer, int walkers, int children) {
  int64_t count;
  const rg_balance_outcome *o;
  RGT_OK(rg_balance_gather(balancer, 0));
  RGT_OK(rg_balance_outcomes(balancer, &count, &o));
  if (rgt_rank != 0)
    return;
  RGT_INT(count, walkers + children);
  for (int i = 0; i < count; i++)
    work_check(&o[i]);
  for (int i = 0; i < count && i < walkers; i++)
    RGT_INT(o[i].id, i);
  for (int i = walkers + 1; i < count; i++)
    RGT_TRUE(o[i].id > o[i - 1].id);
}

/* --- states that are no plain memory ---------------------------------------------------- */

static inline int list_start(rg_walker *walker, void *context) {
  (void)context;
  work_state *s = malloc(sizeof *s);
  *s = (work_state){.units = work_units(walker->id)};
  walker->state = s;
  return RG_SUCCESS;
}

static inline int list_packed(const rg_walker *walker, size_t *bytes, void *context) {
  (void)walker;
  (void)context;
  *bytes = sizeof(work_state);
  return RG_SUCCESS;
}

static inline int list_pack(const rg_walker *walker, void *memory, size_t bytes, void *context) {
  (void)context;
  memcpy(memory, walker->state, bytes);
  return RG_SUCCESS;
}

static inline int list_unpack(rg_walker *walker, const void *memory, size_t bytes, void *context) {
  (void)context;
  if (bytes != sizeof(work_state))
    return RG_ERR_MISMATCH;
  walker->state = malloc(bytes);
  memcpy(walker->state, memory, bytes);
  return RG_SUCCESS;
}

static inline void list_drop(rg_walker *walker, void *context) {
  work_context *c = context;
  c->dropped++;
  free(walker->state);
}

#endif
