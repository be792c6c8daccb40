/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "collectives/seats.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/group.h"
#include "message/message.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/slot.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/revocation.h"

/* Up to so many members each looks at everybody's cell; above, the first one
 * does and lets the others go. */
#define ALL_LOOK 16

int rgi_spare(void) {
  return !rgi_node.oversubscribed;
}

/* --- membership ------------------------------------------------------------------- */

static int find_local(rg_group g, rgi_local *l) {
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

int rgi_seats_make(rg_group g, uint64_t key, rgi_local **local) {
  rgi_local *l = calloc(1, sizeof *l);
  if (!l)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group's collectives");
  int error = find_local(g, l);
  if (error) {
    free(l);
    return error;
  }
  l->key = key;
  l->epoch = rgi_rt.epoch;
  l->members = rgi_members_share(g->members);
  *local = l;
  return RG_SUCCESS;
}

/* All members have taken part in all steps. */
static int even(const void *memory, int users) {
  const rgi_seats *seats = memory;
  for (int i = 1; i < users; i++)
    if (atomic_load(&seats->seat[i].done) != atomic_load(&seats->seat[0].done))
      return 0;
  return 1;
}

void rgi_seats_free(rgi_local *l) {
  if (l->seats && l->epoch == rgi_rt.epoch && rgi_rt.started) {
    uint64_t board = atomic_load(&l->seats->board);
    /* The last to leave gives the board back with the slot. */
    if (rgi_slot_detach(l->slot, even) && board)
      rgi_arena_give(board, (size_t)l->n * RGI_DEPTH * RGI_CHUNK);
  }
  rgi_members_drop(l->members);
  free(l->ranks);
  free(l);
}

int rgi_local_size(const rgi_local *l) {
  return l->n;
}

int rgi_local_me(const rgi_local *l) {
  return l->me;
}

int rgi_local_rank(const rgi_local *l, int i) {
  return l->ranks ? l->ranks[i] : i;
}

/* --- waiting ----------------------------------------------------------------------- */

/* Others may need this process's messages, or what it has started, to move on. */
static int move_on(int *busy) {
  *busy = rgi_progress_busy() || rgi_requests_busy();
  return *busy ? rgi_progress_all() : RG_SUCCESS;
}

/* Somebody's operation has ended in an error: what this one waits for may never come. */
static int check_whole(const rgi_local *l, const char *call) {
  if (!atomic_load_explicit(&l->seats->broken, memory_order_relaxed))
    return RG_SUCCESS;
  RGI_TRY(rgi_scope_check(&rgi_scope_now, call));
  return rgi_error(RG_ERR_MISMATCH,
                   "%s: an operation of these members ended in an error on one of them; form the "
                   "group anew",
                   call);
}

/* One look in vain. */
static int wait_look(const rgi_local *l, rgi_wait *w) {
  int busy;
  RGI_TRY(check_whole(l, w->call));
  RGI_TRY(move_on(&busy));
  return rgi_wait_more(w);
}

static int wait_bell(const rgi_local *l, rgi_wait *w, rgi_bell *bell, uint32_t old) {
  int busy;
  RGI_TRY(check_whole(l, w->call));
  RGI_TRY(move_on(&busy));
  return rgi_wait_bell(w, bell, old, !busy);
}

/* Whether step a is at or after step b, also when the count has wrapped. */
static int reached(uint32_t a, uint32_t b) {
  return (int32_t)(a - b) >= 0;
}

static int await_done(rgi_local *l, int i, uint32_t step, const char *call) {
  _Atomic uint32_t *done = &l->seats->seat[i].done;
  rgi_wait w;
  rgi_wait_start(&w, call, rgi_local_rank(l, i));
  for (;;) {
    uint32_t room = atomic_load(&l->seats->room.value);
    if (reached(atomic_load_explicit(done, memory_order_acquire), step))
      return RG_SUCCESS;
    if (rgi_spare())
      RGI_TRY(wait_look(l, &w));
    else
      RGI_TRY(wait_bell(l, &w, &l->seats->room, room));
  }
}

/* --- steps --------------------------------------------------------------------------- */

static int attach_memory(rgi_local *l) {
  void *memory;
  size_t bytes = sizeof(rgi_seats) + (size_t)l->n * sizeof(rgi_seat);
  RGI_TRY(rgi_slot_attach(l->key, l->n, bytes, &l->slot, &memory));
  l->seats = memory;
  /* Goes on where this process left off, if it was here before. */
  l->step = l->ended = atomic_load(&l->seats->seat[l->me].done);
  l->safe = l->step - RGI_DEPTH;
  return RG_SUCCESS;
}

int rgi_board_attach(rgi_local *l) {
  if (l->board)
    return RG_SUCCESS;
  if (!l->seats)
    RGI_TRY(attach_memory(l));
  uint64_t offset = atomic_load(&l->seats->board), none = 0;
  size_t bytes = (size_t)l->n * RGI_DEPTH * RGI_CHUNK;
  if (!offset) {
    RGI_TRY(rgi_arena_take("a group's board", bytes, &offset));
    if (!atomic_compare_exchange_strong(&l->seats->board, &none, offset)) {
      rgi_arena_give(offset, bytes);
      offset = none;
    }
  }
  l->board = rgi_arena_at(offset);
  return RG_SUCCESS;
}

int rgi_step_begin(rgi_local *l, const char *call) {
  if (!l->seats)
    RGI_TRY(attach_memory(l));
  RGI_TRY(check_whole(l, call));
  if (rgi_revocations())
    RGI_TRY(rgi_scope_check(&rgi_scope_now, call));
  uint32_t step = l->step + 1, needed = step - RGI_DEPTH;
  if (!reached(l->safe, needed)) {
    for (int i = 0; i < l->n; i++)
      if (i != l->me)
        RGI_TRY(await_done(l, i, needed, call));
    l->safe = needed;
  }
  l->step = step;
  rgi_cell_of(l, l->me)->bytes = l->bytes;
  return RG_SUCCESS;
}

int rgi_step_fits(const rgi_local *l, int i, uint32_t step, const char *call) {
  uint32_t bytes = l->seats->seat[i].cell[step % RGI_DEPTH].bytes;
  if (bytes == l->bytes)
    return RG_SUCCESS;
  return rgi_error(bytes > l->bytes ? RG_ERR_TRUNCATE : RG_ERR_MISMATCH,
                   "%s: lengths that do not fit: rank %d means %u bytes, this process %u; form the "
                   "group anew",
                   call, rgi_local_rank(l, i), bytes, l->bytes);
}

int rgi_step_all_fit(const rgi_local *l, uint32_t step, const char *call) {
  for (int i = 0; i < l->n; i++)
    RGI_TRY(rgi_step_fits(l, i, step, call));
  return RG_SUCCESS;
}

void rgi_step_show(rgi_local *l, const void *data, size_t bytes) {
  rgi_cell *c = rgi_cell_of(l, l->me);
  if (bytes)
    memcpy(c->data, data, bytes);
  atomic_store_explicit(&c->step, l->step, memory_order_release);
}

int rgi_step_see(rgi_local *l, int i, const char *call) {
  _Atomic uint32_t *step = &rgi_cell_of(l, i)->step;
  rgi_wait w;
  for (int look = 0; look < 1000; look++) {
    if (atomic_load_explicit(step, memory_order_acquire) == l->step)
      return RG_SUCCESS;
    rgi_relax();
  }
  rgi_wait_start(&w, call, rgi_local_rank(l, i));
  while (atomic_load_explicit(step, memory_order_acquire) != l->step)
    RGI_TRY(wait_look(l, &w));
  return RG_SUCCESS;
}

/* How many steps of this one's cell have counted a member in; only it changes that. */
static uint32_t uses(const rgi_local *l, int i) {
  return atomic_load_explicit(&l->seats->seat[i].uses[l->step % RGI_DEPTH], memory_order_relaxed);
}

/* For reports: the first member that has not been counted in, or -1. */
static int missing(const void *of) {
  const rgi_local *l = of;
  for (int i = 0; i < l->n; i++)
    if (!reached(uses(l, i), uses(l, l->me)))
      return rgi_local_rank(l, i);
  return -1;
}

int rgi_step_arrive(rgi_local *l) {
  uint32_t at = l->step % RGI_DEPTH, mine = uses(l, l->me) + 1, all = mine * (uint32_t)l->n;
  atomic_store_explicit(&l->seats->seat[l->me].uses[at], mine, memory_order_relaxed);
  rgi_bell *b = &l->seats->arrived[at];
  if (atomic_fetch_add(&b->value, 1) + 1 != all)
    return 0;
  l->seats->winner[at] = (uint32_t)l->me;
  return 1;
}

int rgi_step_await_all(rgi_local *l, const char *call) {
  uint32_t all = uses(l, l->me) * (uint32_t)l->n, now;
  rgi_bell *b = &l->seats->arrived[l->step % RGI_DEPTH];
  rgi_wait w;
  rgi_wait_start(&w, call, -1);
  w.awaited = missing;
  w.of = l;
  while ((now = atomic_load_explicit(&b->value, memory_order_acquire)) != all)
    RGI_TRY(wait_bell(l, &w, b, now));
  return RG_SUCCESS;
}

void rgi_step_release(rgi_local *l) {
  rgi_bell_set(&l->seats->release[l->step % RGI_DEPTH], l->step);
}

int rgi_step_await_release(rgi_local *l, int i, const char *call) {
  rgi_bell *b = &l->seats->release[l->step % RGI_DEPTH];
  rgi_wait w;
  uint32_t now;
  rgi_wait_start(&w, call, i < 0 ? -1 : rgi_local_rank(l, i));
  if (i < 0) {
    w.awaited = missing;
    w.of = l;
  }
  while (!reached(now = atomic_load_explicit(&b->value, memory_order_acquire), l->step))
    RGI_TRY(wait_bell(l, &w, b, now));
  return RG_SUCCESS;
}

void rgi_step_all_seen(rgi_local *l) {
  if (!reached(l->safe, l->ended))
    l->safe = l->ended;
}

/* The first member sees all, and its answer is a step of its own. */
static int meet_at_first(rgi_local *l, const char *call) {
  for (int i = 1; i < l->n && l->me == 0; i++)
    RGI_TRY(rgi_step_see(l, i, call));
  RGI_TRY(rgi_step_begin(l, call));
  if (l->me == 0)
    rgi_step_show(l, NULL, 0);
  else
    RGI_TRY(rgi_step_see(l, 0, call));
  return RG_SUCCESS;
}

int rgi_step_meet(rgi_local *l, const char *call) {
  if (rgi_spare()) {
    rgi_step_show(l, NULL, 0);
    if (l->n > ALL_LOOK)
      return meet_at_first(l, call);
    for (int i = 0; i < l->n; i++)
      if (i != l->me)
        RGI_TRY(rgi_step_see(l, i, call));
  } else if (rgi_step_arrive(l)) {
    rgi_step_release(l);
  } else {
    RGI_TRY(rgi_step_await_release(l, -1, call));
  }
  rgi_step_all_seen(l);
  return RG_SUCCESS;
}

void rgi_step_end(rgi_local *l) {
  l->ended = l->step;
  atomic_store_explicit(&l->seats->seat[l->me].done, l->step, memory_order_release);
  if (rgi_spare())
    return;
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&l->seats->room.sleepers, memory_order_relaxed)) {
    atomic_fetch_add(&l->seats->room.value, 1);
    rgi_bell_wake(&l->seats->room);
  }
}

int rgi_step_result(rgi_local *l, int error) {
  if (error && l->seats)
    atomic_store(&l->seats->broken, 1);
  return error;
}
