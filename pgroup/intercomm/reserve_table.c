/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table may lie in shared memory and is changed under its lock. A process that waits for
 * the lock takes it over from an owner that has died. This is safe at any point of the owner's
 * work: `state` is the one word that decides, it is stored last, and what belongs to it
 * (acquirer, number) is written before. An owner that dies in rgi_reserve_table_acquire
 * leaves some processes ACQUIRED by a dead acquirer, which return as after any such death. */
#include "intercomm/reserve_table.h"

#include "base/error.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/process.h"
#include "shm/revocation.h"

size_t rgi_reserve_table_bytes(int size) {
  return sizeof(rgi_reserve_table) + (size_t)size * sizeof(rgi_reserve_table_entry);
}

/* --- the lock ----------------------------------------------------------------- */

static int take_over(rgi_reserve_table *l, uint32_t dead) {
  return atomic_compare_exchange_strong(&l->owner, &dead, (uint32_t)rgi_runtime.rank + 1);
}

static int lock_table(rgi_reserve_table *l) {
  rgi_wait w;
  uint32_t owner = 0;
  if (atomic_compare_exchange_strong(&l->owner, &owner, (uint32_t)rgi_runtime.rank + 1))
    return RG_SUCCESS;
  rgi_wait_start_unscoped(&w, "the reserve's directory", (int)owner - 1);
  for (owner = 0; !atomic_compare_exchange_weak(&l->owner, &owner, (uint32_t)rgi_runtime.rank + 1);
       owner = 0) {
    if (owner && rgi_process_is_dead((int)owner - 1) && take_over(l, owner))
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_more(&w));
  }
  return RG_SUCCESS;
}

static void unlock_table(rgi_reserve_table *l) {
  atomic_store(&l->owner, 0);
}

/* --- entries ---------------------------------------------------------------------- */

static rgi_reserve_table_state state_of(const rgi_reserve_table *l, int rank) {
  return (rgi_reserve_table_state)atomic_load(&((rgi_reserve_table *)(uintptr_t)l)->of[rank].state);
}

static void set_state(rgi_reserve_table *l, int rank, rgi_reserve_table_state state) {
  atomic_store(&l->of[rank].state, (uint32_t)state);
}

void rgi_reserve_table_init(rgi_reserve_table *l, int size, int n, int least) {
  l->size = size;
  l->least = least;
  for (int i = size - n; i < size - least; i++)
    set_state(l, i, RGI_RESERVE_SLEEPING);
}

int rgi_reserve_table_init_once(rgi_reserve_table *l, int size, int n) {
  RGI_TRY(lock_table(l));
  if (!atomic_load(&l->known)) {
    rgi_reserve_table_init(l, size, n > 0 && n < size ? n : 0, 0);
    l->n = n;
    atomic_store(&l->known, 1);
  }
  unlock_table(l);
  return RG_SUCCESS;
}

int rgi_reserve_table_abandoned(const rgi_reserve_table *l, int rank) {
  return state_of(l, rank) == RGI_RESERVE_ACQUIRED && rgi_process_is_dead(l->of[rank].acquirer);
}

/* The process was acquired and will sleep again: its acquirer has died, or the operation has been
 * revoked. */
static int comes_back(const rgi_reserve_table *l, int rank) {
  return state_of(l, rank) == RGI_RESERVE_ACQUIRED && !rgi_process_is_dead(rank) &&
         (rgi_process_is_dead(l->of[rank].acquirer) ||
          (l->of[rank].number && rgi_revocation_has(l->of[rank].number)));
}

int rgi_reserve_table_count(const rgi_reserve_table *l) {
  int n = 0;
  for (int i = 0; i < l->size; i++)
    n += state_of(l, i) == RGI_RESERVE_SLEEPING && !rgi_process_is_dead(i);
  return n;
}

int rgi_reserve_table_acquire(rgi_reserve_table *l, rgi_reserve_table_wish *w) {
  int found = 0;
  w->coming = 0;
  rgi_process_check_now();
  RGI_TRY(lock_table(l));
  w->there = rgi_reserve_table_count(l);
  for (int i = 0; i < l->size && w->there >= w->n && found < w->n; i++)
    if (state_of(l, i) == RGI_RESERVE_SLEEPING && !rgi_process_is_dead(i)) {
      l->of[i].acquirer = w->acquirer;
      l->of[i].number = w->number;
      l->of[i].queried = 0;
      set_state(l, i, RGI_RESERVE_ACQUIRED);
      w->ranks[found++] = i;
    }
  if (found < w->n) {
    for (int i = 0; i < found; i++) /* a process died since the count */
      set_state(l, w->ranks[i], RGI_RESERVE_SLEEPING);
    w->there = rgi_reserve_table_count(l);
  } else {
    w->there = w->n;
  }
  for (int i = 0; i < l->size; i++)
    w->coming += comes_back(l, i);
  unlock_table(l);
  return RG_SUCCESS;
}

int rgi_reserve_table_set(rgi_reserve_table *l, int rank, rgi_reserve_table_state state) {
  RGI_TRY(lock_table(l));
  set_state(l, rank, state);
  unlock_table(l);
  return RG_SUCCESS;
}

int rgi_reserve_table_must_query(rgi_reserve_table *l, int rank, uint64_t *number) {
  rgi_reserve_table_entry *e = &l->of[rank];
  if (e->queried || rgi_process_is_dead(rank) || !rgi_reserve_table_abandoned(l, rank))
    return 0;
  e->queried = 1;
  *number = e->number;
  return 1;
}

int rgi_reserve_table_give_back(rgi_reserve_table *l, int rank, uint64_t number) {
  RGI_TRY(lock_table(l));
  if (state_of(l, rank) == RGI_RESERVE_ACQUIRED && l->of[rank].queried &&
      l->of[rank].number == number)
    set_state(l, rank, RGI_RESERVE_SLEEPING);
  unlock_table(l);
  return RG_SUCCESS;
}

/* The process works, or is about to. */
static int is_outside(const rgi_reserve_table *l, int rank) {
  rgi_reserve_table_state s = state_of(l, rank);
  return !rgi_process_is_dead(rank) && (s == RGI_RESERVE_WORKING || s == RGI_RESERVE_ACQUIRED);
}

static int all_are_inside(const rgi_reserve_table *l) {
  for (int i = 0; i < l->size - l->least; i++)
    if (is_outside(l, i))
      return 0;
  return 1;
}

/* The second look is taken under the lock. Without it the loop could see one process before another
 * acquires it, and that other one after it has gone to sleep. */
int rgi_reserve_table_finished(rgi_reserve_table *l, int *over, int *lost) {
  *over = all_are_inside(l);
  if (!*over)
    return RG_SUCCESS;
  RGI_TRY(lock_table(l));
  *over = all_are_inside(l);
  *lost = *over && rgi_process_deaths() > 0;
  for (int i = 0; i < l->size; i++)
    *lost &= state_of(l, i) != RGI_RESERVE_LEFT;
  unlock_table(l);
  return RG_SUCCESS;
}
