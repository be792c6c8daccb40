/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The load board is a slot of the node's arena to which each process of the balancer attaches. The
 * walkers that wait are a queue (queue.h) in a block of its own.
 *
 * Many processes on few processors: the lock is held for as short as possible, since a process that
 * loses its processor while it holds the lock stops all others. So leaders are woken after the lock
 * is given back, and each once only, until it has looked at the board again: a change wakes no
 * leader that has been woken by an earlier one, that has a request under way, or that works. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "formation/group.h"
#include "progress/slot.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "walkers/board/board.h"
#include "walkers/team/meeting_list.h"
#include "walkers/team/membership.h"
#include "walkers/team/queue.h"

int rgi_board_open(rgi_board *b) {
  const rgi_membership *m = b->members;
  void *memory;
  int here = 0;
  b->place_of = malloc(2 * (size_t)m->size * sizeof *b->place_of);
  if (!b->place_of)
    return rgi_error(RG_ERR_NOMEM, "rg_balance_begin: no memory for %d processes", m->size);
  b->woken = b->place_of + m->size;
  b->woken_count = 0;
  for (int r = 0; r < m->size; r++)
    b->place_of[r] = rgi_membership_place(m, r) < 0 ? -1 : here++;
  RGI_TRY(rgi_slot_attach(rgi_mix_bits(m->group->context + 0x62616c), here,
                          sizeof(rgi_board_shared) + (size_t)here * sizeof(rgi_board_row), &b->slot,
                          &memory));
  b->shared = memory;
  b->shared->processes = here;
  return RG_SUCCESS;
}

static int free_slot(const void *memory, int users) {
  (void)memory;
  (void)users;
  return 1;
}

static void give_state(const rgi_queue_entry *e) {
  if (e->state)
    rgi_arena_free(e->state, e->bytes ? e->bytes : 1);
}

/* The last process to close frees the walkers that are left. */
static void free_waiting(rgi_board *b) {
  rgi_board_shared *board = b->shared;
  if (rgi_board_lock(b))
    return;
  if (--board->processes == 0 && board->entries) {
    for (int i = 0; i < board->count; i++)
      give_state(&rgi_board_waiting(b)[i]);
    rgi_arena_free(board->entries, (size_t)board->room * sizeof(rgi_queue_entry));
  }
  rgi_board_unlock(b);
}

void rgi_board_close(rgi_board *b) {
  free(b->place_of);
  b->place_of = NULL;
  if (!b->shared)
    return;
  free_waiting(b);
  rgi_slot_detach(b->slot, free_slot);
  b->shared = NULL;
}

void rgi_board_forget(rgi_board *b) {
  free(b->place_of);
  b->place_of = NULL;
  b->locked = b->woken_count = 0;
  if (b->shared)
    rgi_slot_detach(b->slot, free_slot);
  b->shared = NULL;
}

int rgi_board_lock(rgi_board *b) {
  RGI_TRY(rgi_lock_acquire(&b->shared->lock, "the lock of the load board"));
  b->locked = 1;
  return RG_SUCCESS;
}

void rgi_board_unlock(rgi_board *b) {
  b->locked = 0;
  rgi_lock_release(&b->shared->lock);
  for (int i = 0; i < b->woken_count; i++)
    rgi_node_ring(b->woken[i]);
  b->woken_count = 0;
}

rgi_board_row *rgi_board_row_of(const rgi_board *b, int rank) {
  return b->place_of[rank] < 0 ? NULL : &b->shared->row[b->place_of[rank]];
}

void rgi_board_changed(rgi_board *b) {
  atomic_fetch_add_explicit(&b->shared->version, 1, memory_order_relaxed);
  for (int r = 0; r < b->members->size; r++) {
    rgi_board_row *row = rgi_board_row_of(b, r);
    if (!row || !row->leads || row->seen < 0 || r == b->members->rank)
      continue;
    row->seen = -1;
    b->woken[b->woken_count++] = rgi_membership_place(b->members, r);
  }
}

/* --- walkers that wait ------------------------------------------------------------- */

static int grow_waiting(rgi_board *b) {
  rgi_board_shared *board = b->shared;
  uint64_t more;
  if (board->count < board->room)
    return RG_SUCCESS;
  int room = board->count + board->count / 2 + 16;
  RGI_TRY(rgi_arena_alloc("walkers that wait", (size_t)room * sizeof(rgi_queue_entry), &more));
  if (board->entries) {
    memcpy(rgi_arena_at(more), rgi_board_waiting(b),
           (size_t)board->count * sizeof(rgi_queue_entry));
    rgi_arena_free(board->entries, (size_t)board->room * sizeof(rgi_queue_entry));
  }
  board->entries = more;
  board->room = room;
  return RG_SUCCESS;
}

int rgi_board_put(rgi_board *b, const rgi_queue_entry *entry) {
  rgi_board_shared *board = b->shared;
  rgi_queue_entry e = *entry;
  RGI_TRY(grow_waiting(b));
  e.order = board->order++;
  e.state = 0;
  e.memory = NULL;
  if (entry->memory) {
    RGI_TRY(rgi_arena_alloc("the state of a walker", e.bytes ? e.bytes : 1, &e.state));
    memcpy(rgi_arena_at(e.state), entry->memory, e.bytes);
  }
  rgi_queue_put_in(rgi_board_waiting(b), &board->count, &e);
  return RG_SUCCESS;
}

int rgi_board_take(rgi_board *b, int at, rgi_queue_entry *entry) {
  rgi_board_shared *board = b->shared;
  rgi_queue_entry *list = rgi_board_waiting(b), e = list[at];
  if (e.state) {
    e.memory = malloc(e.bytes ? e.bytes : 1);
    if (!e.memory)
      return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", e.bytes);
    memcpy(e.memory, rgi_arena_at(e.state), e.bytes);
    rgi_arena_free(e.state, e.bytes ? e.bytes : 1);
    e.state = 0;
  }
  rgi_queue_take_out(list, &board->count, at);
  *entry = e;
  return RG_SUCCESS;
}

int rgi_board_add_born(rgi_board *b, rgi_queue *born) {
  int error = RG_SUCCESS;
  RGI_TRY(rgi_board_lock(b));
  for (int i = 0; i < born->count && !error; i++) {
    error = rgi_board_put(b, &born->at[i]);
    b->shared->open += !error;
  }
  rgi_board_changed(b);
  rgi_board_unlock(b);
  rgi_queue_free(born);
  return error;
}

/* --- walkers that are set aside -------------------------------------------------------------- */

int rgi_board_set_aside(rgi_board *b, const rgi_queue_entry *entry, const rgi_meeting *m) {
  int comes;
  RGI_TRY(rgi_meeting_list_add(rgi_board_aside(b), entry, m, 0, &comes));
  b->shared->open--;
  if (!comes)
    return RG_SUCCESS;
  b->shared->open += m->count;
  atomic_fetch_add(&b->shared->complete, 1);
  rgi_board_changed(b);
  return RG_SUCCESS;
}

int rgi_board_take_meeting(rgi_board *b, int64_t *count, rgi_queue_entry **entries,
                           int64_t *number) {
  int rank;
  RGI_TRY(rgi_meeting_list_take(rgi_board_aside(b), count, entries, number, &rank));
  atomic_fetch_sub(&b->shared->complete, *count > 0);
  return RG_SUCCESS;
}
