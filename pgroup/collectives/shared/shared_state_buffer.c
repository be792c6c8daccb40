/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The shared buffers of a shared state, one for each size of chunks.
 *
 * A word of the memory says where a buffer begins, 0: there is none; BUSY, a
 * member allocates it. The member that puts BUSY there allocates for all, and the others wait for
 * it. If the arena has no room it writes the number of the step that needed the buffer into
 * `failed` and takes BUSY away: so the outcome is known for the step before any member goes on, and
 * each member of that step does without. A member looks at `failed` when it has seen the buffer, or
 * has put BUSY there: what a member of the same step has stored in `failed` comes before anything
 * that a later step can have made of the word.
 *
 * A buffer is freed with the state, when no member needs it any more, and not before: a member may
 * still have to read what another one has left there. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"
#include "collectives/shared/shared_state.h"
#include "formation/members.h"
#include "shm/arena.h"

#define BUSY UINT64_MAX

static size_t buffer_bytes(int n, uint32_t depth, int size) {
  return (size_t)n * rgi_shared_state_part(depth, rgi_shared_state_chunk(size));
}

/* Each member's chunks on its memory node. */
static int alloc_buffer(const rgi_shared_state *state, int size, uint64_t *offset) {
  int16_t *node = rgi_members_memory_nodes(state->members);
  rgi_placement placed = {
      .parts = state->n, .each = buffer_bytes(1, state->depth, size), .node = node};
  int error = rgi_arena_alloc_placed(RGI_ARENA_ANY, "a group's shared buffer",
                                     buffer_bytes(state->n, state->depth, size),
                                     node ? &placed : NULL, offset);
  free(node);
  return error;
}

/* Once for each process: the operations go on, but take many times longer. */
static void note_lack(void) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&told))
    rgi_log(RGI_LOG_WARN, "long collectives will be slow: %s", rg_error_detail());
}

static _Atomic uint32_t *failed_step(const rgi_shared_state *state, uint32_t step) {
  return &rgi_shared_state_turn_of(state, step)->failed;
}

/* The caller has put BUSY there. The word of the buffer, or 0. */
static uint64_t make_buffer(const rgi_shared_state *state, int size, uint32_t step) {
  uint64_t offset;
  if (atomic_load_explicit(failed_step(state, step), memory_order_relaxed) == step)
    return 0;
  if (alloc_buffer(state, size, &offset) == RG_SUCCESS)
    return offset;
  note_lack();
  atomic_store_explicit(failed_step(state, step), step, memory_order_relaxed);
  return 0;
}

rgi_shared_state_room rgi_shared_state_attach_buffer(rgi_shared_state *state, int size,
                                                     uint32_t step) {
  _Atomic uint64_t *buffer = &state->memory->buffer[size];
  uint64_t word = 0;
  if (atomic_compare_exchange_strong(buffer, &word, BUSY)) {
    word = make_buffer(state, size, step);
    atomic_store(buffer, word);
  }
  if (word == BUSY)
    return RGI_SHARED_STATE_LATER;
  if (!word || atomic_load_explicit(failed_step(state, step), memory_order_relaxed) == step)
    return RGI_SHARED_STATE_NO_ROOM;
  state->of[size] = rgi_arena_at(word);
  return RGI_SHARED_STATE_BUFFER;
}

void rgi_shared_state_free_buffers(const rgi_shared_state_memory *memory, int users) {
  for (int size = 0; size < RGI_SHM_BUFFERS; size++) {
    uint64_t word = atomic_load(&memory->buffer[size]);
    if (word && word != BUSY)
      rgi_arena_free_placed(word, buffer_bytes(users, atomic_load(&memory->depth), size));
  }
}
