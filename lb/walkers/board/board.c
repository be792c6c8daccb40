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
#include "base/spare.h"
#include "formation/group.h"
#include "progress/slot.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "walkers/board/board.h"
#include "walkers/team/meeting_list.h"
#include "walkers/team/membership.h"
#include "walkers/team/queue.h"

int rgi_board_open(rgi_board *board) {
  const rgi_membership *members = board->members;
  void *memory;
  int here = 0;
  board->place_of = rgi_spare_alloc(2 * (size_t)members->size * sizeof *board->place_of);
  if (!board->place_of)
    return rgi_error(RG_ERR_NOMEM, "rg_balance_begin: no memory for %d processes", members->size);
  board->woken = board->place_of + members->size;
  board->woken_count = 0;
  for (int r = 0; r < members->size; r++)
    board->place_of[r] = rgi_membership_place(members, r) < 0 ? -1 : here++;
  RGI_TRY(rgi_slot_attach(rgi_mix_bits(members->group->context + 0x62616c), here,
                          sizeof(rgi_board_shared) + (size_t)here * sizeof(rgi_board_row),
                          &board->slot, &memory));
  board->shared = memory;
  board->shared->processes = here;
  return RG_SUCCESS;
}

static int free_slot(const void *memory, int users) {
  (void)memory;
  (void)users;
  return 1;
}

static void give_state(const rgi_queue_entry *entry) {
  if (entry->state)
    rgi_arena_free(entry->state, entry->bytes ? entry->bytes : 1);
}

/* The last process to close frees the walkers that are left. */
static void free_waiting(rgi_board *board) {
  rgi_board_shared *shared = board->shared;
  if (rgi_board_lock(board))
    return;
  if (--shared->processes == 0 && shared->entries) {
    for (int i = 0; i < shared->count; i++)
      give_state(&rgi_board_waiting(board)[i]);
    rgi_arena_free(shared->entries, (size_t)shared->room * sizeof(rgi_queue_entry));
  }
  rgi_board_unlock(board);
}

void rgi_board_close(rgi_board *board) {
  rgi_spare_free(board->place_of);
  board->place_of = NULL;
  if (!board->shared)
    return;
  free_waiting(board);
  rgi_slot_detach(board->slot, free_slot);
  board->shared = NULL;
}

void rgi_board_forget(rgi_board *board) {
  rgi_spare_free(board->place_of);
  board->place_of = NULL;
  board->locked = board->woken_count = 0;
  if (board->shared)
    rgi_slot_detach(board->slot, free_slot);
  board->shared = NULL;
}

int rgi_board_lock(rgi_board *board) {
  RGI_TRY(rgi_lock_acquire(&board->shared->lock, "the lock of the load board"));
  board->locked = 1;
  return RG_SUCCESS;
}

void rgi_board_unlock(rgi_board *board) {
  board->locked = 0;
  rgi_lock_release(&board->shared->lock);
  for (int i = 0; i < board->woken_count; i++)
    rgi_node_ring(board->woken[i]);
  board->woken_count = 0;
}

rgi_board_row *rgi_board_row_of(const rgi_board *board, int rank) {
  return board->place_of[rank] < 0 ? NULL : &board->shared->row[board->place_of[rank]];
}

void rgi_board_changed(rgi_board *board) {
  atomic_fetch_add_explicit(&board->shared->version, 1, memory_order_relaxed);
  for (int r = 0; r < board->members->size; r++) {
    rgi_board_row *row = rgi_board_row_of(board, r);
    if (!row || !row->leads || row->seen < 0 || r == board->members->rank)
      continue;
    row->seen = -1;
    board->woken[board->woken_count++] = rgi_membership_place(board->members, r);
  }
}

/* --- walkers that wait ------------------------------------------------------------- */

static int grow_waiting(rgi_board *board) {
  rgi_board_shared *shared = board->shared;
  uint64_t more;
  if (shared->count < shared->room)
    return RG_SUCCESS;
  int room = shared->count + shared->count / 2 + 16;
  RGI_TRY(rgi_arena_alloc("walkers that wait", (size_t)room * sizeof(rgi_queue_entry), &more));
  if (shared->entries) {
    memcpy(rgi_arena_at(more), rgi_board_waiting(board),
           (size_t)shared->count * sizeof(rgi_queue_entry));
    rgi_arena_free(shared->entries, (size_t)shared->room * sizeof(rgi_queue_entry));
  }
  shared->entries = more;
  shared->room = room;
  return RG_SUCCESS;
}

int rgi_board_put(rgi_board *board, const rgi_queue_entry *entry) {
  rgi_board_shared *shared = board->shared;
  rgi_queue_entry own = *entry;
  RGI_TRY(grow_waiting(board));
  own.order = shared->order++;
  own.state = 0;
  own.memory = NULL;
  if (entry->memory) {
    RGI_TRY(rgi_arena_alloc("the state of a walker", own.bytes ? own.bytes : 1, &own.state));
    memcpy(rgi_arena_at(own.state), entry->memory, own.bytes);
  }
  rgi_queue_put_in(rgi_board_waiting(board), &shared->count, &own);
  return RG_SUCCESS;
}

int rgi_board_take(rgi_board *board, int at, rgi_queue_entry *entry) {
  rgi_board_shared *shared = board->shared;
  rgi_queue_entry *list = rgi_board_waiting(board), taken = list[at];
  if (taken.state) {
    taken.memory = rgi_spare_alloc(taken.bytes ? taken.bytes : 1);
    if (!taken.memory)
      return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", taken.bytes);
    memcpy(taken.memory, rgi_arena_at(taken.state), taken.bytes);
    rgi_arena_free(taken.state, taken.bytes ? taken.bytes : 1);
    taken.state = 0;
  }
  rgi_queue_take_out(list, &shared->count, at);
  *entry = taken;
  return RG_SUCCESS;
}

int rgi_board_add_born(rgi_board *board, rgi_queue *born) {
  int error = RG_SUCCESS;
  RGI_TRY(rgi_board_lock(board));
  for (int i = 0; i < born->count && !error; i++) {
    error = rgi_board_put(board, &born->at[i]);
    board->shared->open += !error;
  }
  rgi_board_changed(board);
  rgi_board_unlock(board);
  rgi_queue_free(born);
  return error;
}

/* --- walkers that are set aside -------------------------------------------------------------- */

int rgi_board_set_aside(rgi_board *board, const rgi_queue_entry *entry,
                        const rgi_meeting *meeting) {
  int comes;
  RGI_TRY(rgi_meeting_list_add(rgi_board_aside(board), entry, meeting, 0, &comes));
  board->shared->open--;
  if (!comes)
    return RG_SUCCESS;
  board->shared->open += meeting->count;
  atomic_fetch_add(&board->shared->complete, 1);
  rgi_board_changed(board);
  return RG_SUCCESS;
}

int rgi_board_take_meeting(rgi_board *board, int64_t *count, rgi_queue_entry **entries,
                           int64_t *number) {
  int rank;
  RGI_TRY(rgi_meeting_list_take(rgi_board_aside(board), count, entries, number, &rank));
  atomic_fetch_sub(&board->shared->complete, *count > 0);
  return RG_SUCCESS;
}
