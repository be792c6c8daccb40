/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Making, attaching and freeing the shared state. The handle is made when a group gets its
 * collective state; its slot is attached at the first step, by every member for itself.
 *
 * The slot is freed when all members have left it, and have ended the same step: one that has left
 * may come back with another handle of the world, and go on where it left off. After an error or a
 * death the steps do not matter. A member that never attaches the slot may come as long as it has
 * its group. When it frees the group it marks itself as one that has left, and makes the slot if
 * there is none: others may still attach it. Its steps do not matter, but in the world, where
 * another handle may come. All of this is done under the lock of the slot's list. So a slot remains
 * only where a member has freed its group without any call on it that needs the group's collective
 * state, and others have called a collective, which cannot end.
 */
#include "collectives/shared/shared_state.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "formation/group.h"
#include "formation/members.h"
#include "progress/slot.h"
#include "runtime/runtime.h"
#include "shm/node.h"
#include "shm/process.h"

/* Who is on this node. ranks: NULL, or their group ranks are written there. Returns how many. */
static int find_local_members(rg_group g, int ranks[], int *me) {
  int size = rgi_members_count(g->members), n = 0;
  *me = g->me;
  if (rgi_node.count == 1)
    return size;
  for (int i = 0; i < size; i++) {
    if (rgi_node_of(rgi_members_at(g->members, i)) != rgi_node.mine)
      continue;
    if (i == g->me)
      *me = n;
    if (ranks)
      ranks[n] = i;
    n++;
  }
  return n;
}

/* All but the members. */
static rgi_shared_state describe(rg_group g) {
  rgi_shared_state state = {.epoch = rgi_runtime.epoch, .is_world = g->is_world};
  state.key = rgi_mix_bits(g->context + 0x7365617473u);
  state.n = find_local_members(g, NULL, &state.me);
  state.depth = rgi_shared_state_depth(state.n);
  state.stride = (uint32_t)rgi_shared_state_stride(state.depth);
  state.last_cell = state.depth - 1;
  return state;
}

int rgi_shared_state_make(rg_group g, rgi_shared_state **made) {
  rgi_shared_state found = describe(g),
                   *state =
                       rgi_spare_alloc_zeroed(1, sizeof *state + found.depth * sizeof *state->use);
  int *ranks = rgi_node.count == 1 ? NULL : rgi_spare_alloc((size_t)found.n * sizeof *ranks);
  if (!state || (rgi_node.count > 1 && !ranks)) {
    rgi_spare_free(state);
    rgi_spare_free(ranks);
    return rgi_error(RG_ERR_NOMEM, "no memory for a group's collectives");
  }
  *state = found;
  find_local_members(g, ranks, &state->me);
  state->ranks = ranks;
  state->members = rgi_members_share(g->members);
  int error = rgi_levels_make(state->members, ranks, state->n, state->me, &state->levels);
  if (error)
    rgi_shared_state_free(state);
  else
    *made = state;
  return error;
}

/* --- attaching ------------------------------------------------------------------------------- */

static rgi_slot_wanted wanted_of(const rgi_shared_state *state, const int16_t *nodes) {
  enum { MEMBER = sizeof(rgi_shared_state_member) + RGI_SHM_DEPTH * sizeof(uint32_t) + RGI_LINE };
  _Static_assert(MEMBER + RGI_SHM_DEPTH * sizeof(rgi_shared_state_cell) <= RGI_SLOT_MEMBER_BYTES &&
                     sizeof(rgi_shared_state_memory) +
                             RGI_SHM_DEPTH * sizeof(rgi_shared_state_turn) + RGI_LINE <=
                         RGI_SLOT_HEAD_BYTES / 2,
                 "what is set aside suffices");
  return (rgi_slot_wanted){.key = state->key,
                           .users = state->n,
                           .bytes = rgi_shared_state_bytes(state->n, state->depth),
                           .nodes = nodes,
                           .once = 1};
}

static void set_memory(rgi_shared_state *state, void *memory) {
  state->memory = memory;
  state->entry = (char *)memory + rgi_shared_state_head(state->depth);
  state->cells = state->entry + rgi_shared_state_cells_at(state->depth);
  atomic_store_explicit(&state->memory->depth, (uint8_t)state->depth, memory_order_relaxed);
  atomic_store_explicit(&rgi_shared_state_member_at(state, state->me)->left, 0,
                        memory_order_relaxed);
}

/* The context is that of a set of members. The state has a place for each in one order. */
static void compare_order(rgi_shared_state *state) {
  uint32_t mine = (uint32_t)rgi_members_hash(state->members) | 1, first = 0;
  uint16_t none = 0;
  if (atomic_compare_exchange_strong(&state->memory->order, &first, mine) || first == mine)
    return;
  atomic_store(&state->memory->orders, 1);
  atomic_compare_exchange_strong(&state->memory->broken, &none, RG_ERR_MISMATCH);
}

/* Of memory that a member has attached. */
static const rgi_shared_state_member *member_of(const rgi_shared_state_memory *memory, int i) {
  uint32_t depth = atomic_load(&memory->depth);
  size_t at = rgi_shared_state_head(depth) + (size_t)i * rgi_shared_state_stride(depth);
  return (const rgi_shared_state_member *)(const void *)((const char *)memory + at);
}

enum { STAYS, LEFT, LEFT_UNUSED }; /* of a member: LEFT_UNUSED: without any step */

static int all_left(const void *memory, int users) {
  const rgi_shared_state_memory *m = memory;
  int broken = atomic_load(&m->broken), first = -1;
  for (int i = 0; i < users; i++) {
    uint32_t left = atomic_load(&member_of(m, i)->left);
    if (left == STAYS)
      return 0;
    if (broken || left == LEFT_UNUSED)
      continue;
    first = first < 0 ? i : first;
    if (atomic_load(&member_of(m, i)->done) != atomic_load(&member_of(m, first)->done))
      return 0;
  }
  rgi_shared_state_free_buffers(m, users);
  return 1;
}

/* A member has died: no operation on these members ends any more. */
static int any_left(const void *memory, int users) {
  rgi_shared_state_free_buffers(memory, users);
  return 1;
}

int rgi_shared_state_attach(rgi_shared_state *state) {
  void *memory;
  int16_t *nodes = rgi_members_memory_nodes(state->members);
  rgi_slot_wanted wanted = wanted_of(state, nodes);
  int error = rgi_slot_attach_wanted(&wanted, &state->slot, &memory);
  free(nodes);
  if (error)
    return error;
  set_memory(state, memory);
  compare_order(state);
  /* A process that was attached before goes on where it left off. */
  state->step = state->ended = atomic_load_explicit(
      &rgi_shared_state_member_at(state, state->me)->done, memory_order_relaxed);
  state->safe = state->near_safe = state->step - state->depth;
  state->flat = state->step;
  for (uint32_t i = 0; i < state->depth; i++)
    state->use[i].reader = -1;
  return RG_SUCCESS;
}

/* --- leaving ---------------------------------------------------------------------------------- */

static int has_lost_member(const rgi_shared_state *state) {
  for (int i = 0; i < state->n; i++)
    if (rgi_process_is_dead(rgi_members_at(state->members, rgi_shared_state_group_rank(state, i))))
      return 1;
  return 0;
}

static void leave(const rgi_shared_state *state, uint32_t how) {
  atomic_store(&rgi_shared_state_member_at(state, state->me)->left, how);
  rgi_slot_detach_surviving(state->slot, has_lost_member(state) ? any_left : all_left);
}

/* By a member that has taken no step. The others may have met an error and have left, or come
 * later.
 */
static int join_to_leave(rgi_shared_state *state) {
  rgi_slot_wanted wanted = wanted_of(state, NULL);
  void *memory;
  wanted.once = 0; /* without memory nobody is told */
  if (state->n == 1 || rgi_slot_attach_wanted(&wanted, &state->slot, &memory))
    return 0;
  set_memory(state, memory);
  return 1;
}

void rgi_shared_state_free(rgi_shared_state *state) {
  if (!state)
    return;
  uint32_t how = state->memory || state->is_world ? LEFT : LEFT_UNUSED;
  if (state->epoch == rgi_runtime.epoch && rgi_runtime.started &&
      (state->memory || (state->used && join_to_leave(state))))
    leave(state, how);
  rgi_members_drop(state->members);
  rgi_spare_free(state->levels);
  rgi_spare_free(state->ranks);
  rgi_spare_free(state);
}

static void note_error(rgi_shared_state_memory *memory, int error, uint32_t call) {
  uint16_t none = 0;
  uint32_t no_call = 0;
  atomic_compare_exchange_strong(&memory->broken_call, &no_call, call);
  atomic_compare_exchange_strong(&memory->broken, &none, (uint16_t)error);
}

/* Attaches the memory, which the handle has not attached, for a moment. left: STAYS or LEFT. */
static void note_error_unattached(const rgi_shared_state *handle, int error, uint32_t call,
                                  uint32_t left) {
  rgi_shared_state state = *handle;
  rgi_slot_wanted wanted = wanted_of(&state, NULL);
  void *memory;
  if (state.n == 1 || rgi_slot_attach_wanted(&wanted, &state.slot, &memory))
    return;
  set_memory(&state, memory);
  note_error(state.memory, error, call);
  atomic_store(&rgi_shared_state_member_at(&state, state.me)->left, left);
  rgi_slot_detach(state.slot, all_left);
}

void rgi_shared_state_break(rg_group g, int error) {
  rgi_shared_state state = describe(g);
  note_error_unattached(&state, error, 0, LEFT);
}

void rgi_shared_state_note(const rgi_shared_state *state, int error, uint32_t call) {
  if (state->memory)
    note_error(state->memory, error, call);
  else
    note_error_unattached(state, error, call, STAYS);
}

int rgi_shared_state_error(const rgi_shared_state *state) {
  uint64_t slot;
  void *memory;
  if (state->memory)
    return atomic_load(&state->memory->broken);
  if (state->n == 1 || !rgi_slot_attach_found(state->key, &slot, &memory))
    return RG_SUCCESS;
  int error = atomic_load(&((rgi_shared_state_memory *)memory)->broken);
  rgi_slot_detach(slot, all_left);
  return error;
}
