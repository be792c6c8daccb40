/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Making, attaching and freeing the shared state. The handle is made when a group gets its
 * collective state; its slot is attached at the first step, by every member for itself. */
#include "collectives/shared_state.h"

#include <stdlib.h>

#include "base/error.h"
#include "formation/group.h"
#include "formation/members_memory.h"
#include "progress/slot.h"
#include "runtime/runtime.h"
#include "shm/node.h"
#include "shm/process.h"

static int find_local_members(rg_group g, rgi_shared_state *l) {
  int size = rgi_members_count(g->members), n = 0;
  l->n = size;
  l->me = g->me;
  if (rgi_node.count == 1)
    return RG_SUCCESS;
  l->ranks = malloc((size_t)size * sizeof *l->ranks);
  if (!l->ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d members", size);
  for (int i = 0; i < size; i++) {
    if (rgi_node_of(rgi_members_at(g->members, i)) != rgi_node.mine)
      continue;
    if (i == g->me)
      l->me = n;
    l->ranks[n++] = i;
  }
  l->n = n;
  return RG_SUCCESS;
}

/* As much as a state of this depth needs. */
static rgi_shared_state *alloc_handle(uint32_t depth) {
  rgi_shared_state *l = calloc(1, sizeof *l + depth * sizeof *l->use);
  if (!l)
    return NULL;
  l->depth = depth;
  l->stride = (uint32_t)rgi_shared_state_stride(depth);
  l->last_cell = depth - 1;
  return l;
}

int rgi_shared_state_make(rg_group g, uint64_t key, rgi_shared_state **local) {
  rgi_shared_state found = {.ranks = NULL}, *l = NULL;
  RGI_TRY(find_local_members(g, &found));
  l = alloc_handle(rgi_shared_state_depth(found.n));
  if (!l) {
    free(found.ranks);
    return rgi_error(RG_ERR_NOMEM, "no memory for a group's collectives");
  }
  l->n = found.n;
  l->me = found.me;
  l->ranks = found.ranks;
  l->key = key;
  l->epoch = rgi_runtime.epoch;
  l->members = rgi_members_share(g->members);
  *local = l;
  return RG_SUCCESS;
}

int rgi_shared_state_copy(const rgi_shared_state *l, uint64_t key, rgi_shared_state **local) {
  rgi_shared_state *copy = alloc_handle(l->depth);
  int *ranks = l->ranks ? malloc((size_t)l->n * sizeof *ranks) : NULL;
  if (!copy || (l->ranks && !ranks)) {
    free(copy);
    free(ranks);
    return rgi_error(RG_ERR_NOMEM, "no memory for %d members", l->n);
  }
  for (int i = 0; ranks && i < l->n; i++)
    ranks[i] = l->ranks[i];
  copy->key = key;
  copy->epoch = l->epoch;
  copy->members = rgi_members_share(l->members);
  copy->n = l->n;
  copy->me = l->me;
  copy->ranks = ranks;
  *local = copy;
  return RG_SUCCESS;
}

/* Of memory that a member has attached. */
static const rgi_shared_state_member *member_of(const rgi_shared_state_memory *m, int i) {
  uint32_t depth = atomic_load(&m->depth);
  size_t at = rgi_shared_state_head(depth) + (size_t)i * rgi_shared_state_stride(depth);
  return (const rgi_shared_state_member *)(const void *)((const char *)m + at);
}

/* All members have ended the same step: none still needs the memory. */
static int members_in_step(const void *memory, int users) {
  const rgi_shared_state_memory *m = memory;
  for (int i = 1; i < users; i++)
    if (atomic_load(&member_of(m, i)->done) != atomic_load(&member_of(m, 0)->done))
      return 0;
  rgi_shared_state_free_buffer(memory, users);
  return 1;
}

/* A member has died: no operation on these members ends any more. */
static int members_lost(const void *memory, int users) {
  rgi_shared_state_free_buffer(memory, users);
  return 1;
}

static int has_lost_member(const rgi_shared_state *l) {
  for (int i = 0; i < l->n; i++)
    if (rgi_process_is_dead(rgi_members_at(l->members, rgi_shared_state_group_rank(l, i))))
      return 1;
  return 0;
}

/* No cached state of any member is used, and all have ended the same step: 0, or the number of uses
 * and ends of uses so far. A member that has never attached it counts as one that may come. */
static uint32_t members_idle(const void *memory, int users) {
  const rgi_shared_state_memory *m = memory;
  uint32_t sum = 0;
  for (int i = 0; i < users && atomic_load(&m->depth); i++) {
    uint32_t uses = atomic_load(&member_of(m, i)->uses);
    if (!uses || uses % 2 ||
        atomic_load(&member_of(m, i)->done) != atomic_load(&member_of(m, 0)->done))
      return 0;
    sum += uses;
  }
  return atomic_load(&m->buffer) ? 0 : sum;
}

__attribute__((constructor)) static void register_giving(void) {
  static const rgi_slot_giving giving = {rgi_shared_state_give_buffer, members_idle};
  rgi_slots_set_giving(&giving);
}

static void count_use(rgi_shared_state *l) {
  _Atomic uint32_t *uses = &rgi_shared_state_member_at(l, l->me)->uses;
  atomic_store_explicit(uses, atomic_load_explicit(uses, memory_order_relaxed) + 1,
                        memory_order_release);
}

static int hold_memory(const rgi_shared_state *l) {
  return l->memory && rgi_slot_hold(l->key, l->slot, l->mark);
}

void rgi_shared_state_suspend(rgi_shared_state *l) {
  l->suspended = 1;
  if (!l->memory)
    return;
  rgi_slot_note_kept(l->slot);
  l->mark = rgi_slots_mark();
  count_use(l);
}

void rgi_shared_state_resume(rgi_shared_state *l) {
  l->suspended = 0;
  if (!hold_memory(l)) {
    l->memory = NULL;
    return;
  }
  count_use(l);
  rgi_slot_let_go();
}

void rgi_shared_state_break(rgi_shared_state *l, int error) {
  if (l->suspended ? !hold_memory(l) : !l->memory)
    return;
  atomic_store(&l->memory->broken, (uint16_t)error);
  if (l->suspended)
    rgi_slot_let_go();
}

/* The last member to detach frees the shared buffer with the slot. */
static void detach_memory(rgi_shared_state *l) {
  if (l->suspended && !hold_memory(l))
    return;
  rgi_shared_state_detach_buffer(l);
  rgi_slot_detach_surviving(l->slot, has_lost_member(l) ? members_lost : members_in_step);
  if (l->suspended)
    rgi_slot_let_go();
}

void rgi_shared_state_free(rgi_shared_state *l) {
  if (l->memory && l->epoch == rgi_runtime.epoch && rgi_runtime.started)
    detach_memory(l);
  rgi_members_drop(l->members);
  free(l->levels);
  free(l->ranks);
  free(l);
}

static int attach_slot(rgi_shared_state *l) {
  void *memory;
  enum { CELL = sizeof(rgi_shared_state_cell) + sizeof(uint64_t) + sizeof(uint32_t) };
  _Static_assert(sizeof(rgi_shared_state_member) + RGI_SHM_DEPTH * CELL + RGI_LINE <=
                         RGI_SLOT_MEMBER_BYTES &&
                     sizeof(rgi_shared_state_memory) +
                             RGI_SHM_DEPTH * sizeof(rgi_shared_state_turn) + RGI_LINE <=
                         RGI_SLOT_HEAD_BYTES / 2,
                 "what is set aside suffices");
  int16_t *nodes = rgi_members_memory_nodes(l->members);
  rgi_slot_wanted wanted = {l->key, l->n, rgi_shared_state_bytes(l->n, l->depth), nodes,
                            l->wanting};
  int error = rgi_slot_attach_wanted(&wanted, &l->slot, &memory);
  free(nodes);
  if (error)
    return error;
  l->memory = memory;
  l->entry = (char *)memory + rgi_shared_state_head(l->depth);
  l->cells = l->entry + rgi_shared_state_cells_at(l->depth);
  atomic_store(&l->memory->depth, (uint16_t)l->depth);
  return RG_SUCCESS;
}

/* The caller may have used the slot before: then it may be given back until the new use counts. */
static int attach_cached(rgi_shared_state *l) {
  do {
    l->mark = rgi_slots_mark();
    RGI_TRY(attach_slot(l));
  } while (!hold_memory(l));
  if (atomic_load(&rgi_shared_state_member_at(l, l->me)->uses) % 2 == 0)
    count_use(l);
  rgi_slot_let_go();
  return RG_SUCCESS;
}

int rgi_shared_state_attach(rgi_shared_state *l) {
  if (!l->levels)
    RGI_TRY(rgi_levels_make(l->members, l->ranks, l->n, l->me, &l->levels));
  RGI_TRY(l->in_cache ? attach_cached(l) : attach_slot(l));
  /* A process that was attached before goes on where it left off. */
  l->step = l->ended = atomic_load(&rgi_shared_state_member_at(l, l->me)->done);
  l->safe = l->near_safe = l->step - l->depth;
  l->flat = l->step;
  for (uint32_t i = 0; i < l->depth; i++)
    l->use[i].reader = -1;
  return RG_SUCCESS;
}
