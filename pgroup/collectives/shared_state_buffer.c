/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The shared buffer of a shared state: who allocates it, and who gives it back.
 *
 * One word of the memory holds how many members have attached the buffer and which page of the
 * arena it begins at: 0, there is none; BUSY, a member allocates it. The member that puts BUSY
 * there allocates for all, and the others wait for it: n members need the room for one buffer and
 * not for n. If the arena has no room the member writes the number of the step that needed the
 * buffer into `failed` and takes BUSY away: each member of that step then does without. Each
 * member first counts itself or puts BUSY there, and then looks at `failed`: what a member of the
 * same step has stored there comes before anything that a later step can have made of the word.
 *
 * A buffer that no member has attached is kept for the next group with these members. Any process
 * of the node may give it back when the arena is full (rgi_slots_give_back): one exchange takes it
 * out of the word while the count is 0. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"
#include "collectives/shared_state.h"
#include "formation/members_memory.h"
#include "progress/slot.h"
#include "shm/arena.h"
#include "shm/pages.h"

/* The word: the page above, the count below. A process may have 2^16 handles (progress/slot.h). */
#define ONE_PAGE ((uint64_t)1 << 32)
#define BUSY ((uint64_t)-ONE_PAGE)
_Static_assert(BUSY / ONE_PAGE > RGI_LINE_REACH / RGI_PAGE, "the pages of the largest arena");

static uint64_t page_of(uint64_t word) {
  return word & BUSY;
}

static uint64_t word_of(uint64_t offset) {
  return offset / RGI_PAGE * ONE_PAGE;
}

static uint64_t offset_of(uint64_t word) {
  return word / ONE_PAGE * RGI_PAGE;
}

static size_t buffer_bytes(int n, uint32_t depth) {
  return (size_t)n * rgi_shared_state_part(depth);
}

/* Each member's chunks on its memory node. */
static int alloc_buffer(const rgi_shared_state *l, uint64_t *offset) {
  int16_t *node = rgi_members_memory_nodes(l->members);
  rgi_placement placed = {.parts = l->n, .each = buffer_bytes(1, l->depth), .node = node};
  int error = rgi_arena_alloc_placed(RGI_ARENA_ANY, "a group's shared buffer",
                                     buffer_bytes(l->n, l->depth), node ? &placed : NULL, offset);
  free(node);
  return error;
}

/* Once for each process: the operations go on, but take many times longer. */
static void note_lack(void) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&told))
    rgi_log(RGI_LOG_WARN, "long collectives will be slow: %s", rg_error_detail());
}

/* The caller has put BUSY there. Returns whether there is room. */
static int make_buffer(rgi_shared_state *l, uint32_t step) {
  uint64_t offset;
  if (alloc_buffer(l, &offset)) {
    note_lack();
    atomic_store_explicit(&rgi_shared_state_turn_of(l, step)->failed, step, memory_order_relaxed);
    atomic_fetch_sub(&l->memory->buffer, BUSY + 1);
    return 0;
  }
  rgi_slot_note_kept(l->slot);
  atomic_fetch_sub(&l->memory->buffer, BUSY - word_of(offset));
  return 1;
}

static int has_failed(const rgi_shared_state *l, uint32_t step) {
  return atomic_load_explicit(&rgi_shared_state_turn_of(l, step)->failed, memory_order_relaxed) ==
         step;
}

rgi_shared_state_room rgi_shared_state_attach_buffer(rgi_shared_state *l, uint32_t step) {
  uint64_t word = atomic_load(&l->memory->buffer), none = page_of(word) == 0;
  if (page_of(word) == BUSY ||
      !atomic_compare_exchange_strong(&l->memory->buffer, &word, word + 1 + (none ? BUSY : 0)))
    return RGI_SHARED_STATE_LATER;
  if (has_failed(l, step)) {
    atomic_fetch_sub(&l->memory->buffer, 1 + (none ? BUSY : 0));
    return RGI_SHARED_STATE_NO_ROOM;
  }
  if (none && !make_buffer(l, step))
    return RGI_SHARED_STATE_NO_ROOM;
  l->buffer = rgi_arena_at(offset_of(atomic_load(&l->memory->buffer)));
  return RGI_SHARED_STATE_BUFFER;
}

void rgi_shared_state_detach_buffer(rgi_shared_state *l) {
  if (l->buffer)
    atomic_fetch_sub(&l->memory->buffer, 1);
  l->buffer = NULL;
}

int rgi_shared_state_give_buffer(void *memory, int users) {
  rgi_shared_state_memory *m = memory;
  uint64_t word = atomic_load(&m->buffer);
  if (word == 0 || word % ONE_PAGE || page_of(word) == BUSY ||
      !atomic_compare_exchange_strong(&m->buffer, &word, 0))
    return 0;
  rgi_arena_free_placed(offset_of(word), buffer_bytes(users, atomic_load(&m->depth)));
  return 1;
}

void rgi_shared_state_free_buffer(const void *memory, int users) {
  const rgi_shared_state_memory *m = memory;
  uint64_t page = page_of(atomic_load(&m->buffer));
  if (page && page != BUSY)
    rgi_arena_free_placed(offset_of(page), buffer_bytes(users, atomic_load(&m->depth)));
}
