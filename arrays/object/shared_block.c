/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * State of a block, in its slot. `state` goes from 0 to the first member's result, once; a later
 * member's error may then replace READY, and the first error stays. The block's address, size and
 * hash are written before that, and read by others after they have seen it (release and acquire).
 * A member adds itself to `came` after it has written its error. So when all are counted there,
 * `state` is final: rgi_shared_block_confirm relies on it.
 *
 * The last member that leaves gives the block back. If a member has died without leaving, each one
 * that leaves looks whether all the living have left; `given` lets only one of them do it. */
#include "object/shared_block.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mix.h"
#include "formation/group.h"
#include "formation/members.h"
#include "progress/request.h"
#include "progress/slot.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "shm/process.h"

#define KEY 0x61727279u /* a group's other slots have other keys */
#define READY 1

int rgi_shared_block_possible(rg_group g) {
  for (int i = 0; rgi_node.count > 1 && i < rgi_members_count(g->members); i++)
    if (rgi_node_of(rgi_members_at(g->members, i)) != rgi_node.mine)
      return 0;
  return 1;
}

static int all_left(const void *memory, int users) {
  const rgi_shared_block_state *pair = memory;
  return atomic_load(&pair->left) == (uint32_t)users;
}

/* All living members have left. */
static int living_left(rg_group g, rgi_shared_block_state *pair) {
  for (int i = 0; i < rgi_members_count(g->members); i++)
    if (!atomic_load(&pair->has_left[i]) && !rgi_process_is_dead(rgi_members_at(g->members, i)))
      return 0;
  return 1;
}

/* The last member gives the block back. The slot is freed by the last one that detaches. */
static void leave_slot(rg_group g, uint64_t slot, rgi_shared_block_state *pair) {
  uint64_t block = pair->block, bytes = pair->bytes;
  atomic_store(&pair->has_left[g->me], 1);
  uint32_t left = atomic_fetch_add(&pair->left, 1) + 1;
  int last = left == (uint32_t)rgi_members_count(g->members) ||
             (rgi_process_deaths() && living_left(g, pair));
  if (last && block && !atomic_exchange(&pair->given, 1))
    rgi_arena_free_placed(block, (size_t)bytes);
  rgi_slot_detach(slot, all_left);
}

/* With each member's part on its memory node. */
static int alloc_block(rg_group g, const rgi_shared_block_maker *maker, size_t bytes,
                       uint64_t *block) {
  int n = rgi_members_count(g->members);
  int16_t *node = maker->ends ? rgi_members_memory_nodes(g->members) : NULL;
  uint64_t *end = node ? malloc((size_t)n * sizeof *end) : NULL;
  rgi_placement placed = {.parts = n, .end = end, .node = node};
  if (end)
    maker->ends(maker->context, end);
  int error =
      rgi_arena_alloc_placed(RGI_ARENA_ANY, maker->what, bytes, end ? &placed : NULL, block);
  free(end);
  free(node);
  return error;
}

static int make_block(rg_group g, const rgi_shared_block_maker *maker,
                      rgi_shared_block_state *pair) {
  size_t bytes = 0;
  uint64_t block;
  RGI_TRY(maker->bytes(maker->context, &bytes));
  RGI_TRY(alloc_block(g, maker, bytes, &block));
  maker->fill(maker->context, rgi_arena_at(block));
  pair->block = block;
  pair->bytes = bytes;
  return RG_SUCCESS;
}

/* The error that members before have written. The maker's own text, which says more, is not in
 * the slot. */
static int found_error(const char *call, const rgi_shared_block_state *pair) {
  int code = (int)atomic_load(&pair->state.value) - 1;
  switch (code) {
  case RG_SUCCESS:
    return RG_SUCCESS;
  case RG_ERR_NOMEM:
    return rgi_error(code,
                     "%s: it does not fit into the node's arena, as member %u has found: free "
                     "arrays, or set RG_ARENA_SIZE higher",
                     call, pair->maker);
  case RG_ERR_MISMATCH:
    return rgi_error(code, "%s: the members have not given the same: the error of one says what",
                     call);
  default:
    return rgi_error_from(code, call, (int)pair->maker, NULL);
  }
}

/* Writes the caller's error, for members that arrive later and for those that confirm. The first
 * error stays. */
static int tell_error(rgi_shared_block_state *pair, int error) {
  uint32_t was = READY;
  atomic_compare_exchange_strong(&pair->state.value, &was, (uint32_t)error + 1);
  return error;
}

static int wait_made(const char *call, rgi_shared_block_state *pair) {
  rgi_wait wait;
  rgi_wait_start(&wait, call, -1);
  while (atomic_load_explicit(&pair->state.value, memory_order_acquire) == 0)
    RGI_TRY(rgi_wait_bell(&wait, &pair->state, 0, 1));
  return RG_SUCCESS;
}

/* The first member to arrive. */
static int open_as_first(rg_group g, const rgi_shared_block_maker *maker, int error,
                         rgi_shared_block_state *pair) {
  pair->maker = (uint32_t)g->me;
  pair->hash = maker->hash;
  if (!error)
    error = make_block(g, maker, pair);
  rgi_bell_set(&pair->state, (uint32_t)error + 1);
  return error;
}

/* All other members. */
static int open_as_later(const char *call, rg_group g, const rgi_shared_block_maker *maker,
                         int error, rgi_shared_block_state *pair) {
  RGI_TRY(wait_made(call, pair));
  if (error)
    return tell_error(pair, error);
  RGI_TRY(found_error(call, pair));
  if (pair->hash != maker->hash)
    return tell_error(
        pair, rgi_error(RG_ERR_MISMATCH, "%s: member %d has given another %s than member %u", call,
                        g->me, maker->difference(maker->hash, pair->hash), pair->maker));
  return RG_SUCCESS;
}

static int open_in_slot(const char *call, rg_group g, const rgi_shared_block_maker *maker,
                        int error, rgi_shared_block_state *pair) {
  if (atomic_exchange(&pair->first, 1) == 0)
    error = open_as_first(g, maker, error, pair);
  else
    error = open_as_later(call, g, maker, error, pair);
  atomic_fetch_add(&pair->came.value, 1);
  rgi_bell_wake(&pair->came);
  return error;
}

int rgi_shared_block_open(const char *call, rg_group g, const rgi_shared_block_maker *maker,
                          int error, rgi_shared_block *shared) {
  void *memory;
  RGI_TRY(rgi_group_check_member(call, g)); /* whose deaths end the waits */
  int n = rgi_members_count(g->members);
  const rgi_slot_wanted wanted = {.key = rgi_mix_bits(g->context + KEY),
                                  .users = n,
                                  .bytes = sizeof(rgi_shared_block_state) + (size_t)n,
                                  .once = 1};
  RGI_TRY(rgi_slot_attach_wanted(&wanted, &shared->slot, &memory));
  shared->place = memory;
  error = open_in_slot(call, g, maker, error, shared->place);
  if (error) {
    leave_slot(g, shared->slot, shared->place);
    shared->slot = 0;
    return error;
  }
  shared->base = rgi_arena_at(shared->place->block);
  return RG_SUCCESS;
}

int rgi_shared_block_confirm(const char *call, rg_group g, const rgi_shared_block *shared) {
  rgi_wait wait;
  rgi_shared_block_state *pair = shared->place;
  uint32_t members = (uint32_t)rgi_members_count(g->members);
  RGI_TRY(rgi_group_check_member(call, g));
  rgi_wait_start(&wait, call, -1);
  for (;;) {
    uint32_t came = atomic_load(&pair->came.value);
    RGI_TRY(found_error(call, pair));
    if (came >= members)
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_bell(&wait, &pair->came, came, 1));
  }
}

void rgi_shared_block_close(rg_group g, rgi_shared_block *shared) {
  if (shared->slot && rgi_runtime.started && g->epoch == rgi_runtime.epoch)
    leave_slot(g, shared->slot, shared->place);
  shared->slot = 0;
}
