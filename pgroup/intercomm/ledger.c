/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "intercomm/ledger.h"

#include "base/error.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/process.h"
#include "shm/revocation.h"

size_t rgi_ledger_bytes(int size) {
  return sizeof(rgi_ledger) + (size_t)size * sizeof(rgi_sleeper_entry);
}

/* --- the lock ----------------------------------------------------------------- */

static int take_over(rgi_ledger *l, uint32_t dead) {
  return atomic_compare_exchange_strong(&l->owner, &dead, (uint32_t)rgi_rt.rank + 1);
}

static int lock(rgi_ledger *l) {
  rgi_wait w;
  uint32_t owner = 0;
  if (atomic_compare_exchange_strong(&l->owner, &owner, (uint32_t)rgi_rt.rank + 1))
    return RG_SUCCESS;
  rgi_wait_start_unscoped(&w, "the reserve's books", (int)owner - 1);
  for (owner = 0; !atomic_compare_exchange_weak(&l->owner, &owner, (uint32_t)rgi_rt.rank + 1);
       owner = 0) {
    if (owner && rgi_is_dead((int)owner - 1) && take_over(l, owner))
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_more(&w));
  }
  return RG_SUCCESS;
}

static void unlock(rgi_ledger *l) {
  atomic_store(&l->owner, 0);
}

/* --- entries ---------------------------------------------------------------------- */

static rgi_sleeper state_of(const rgi_ledger *l, int rank) {
  return (rgi_sleeper)atomic_load(&((rgi_ledger *)(uintptr_t)l)->of[rank].state);
}

static void set(rgi_ledger *l, int rank, rgi_sleeper state) {
  atomic_store(&l->of[rank].state, (uint32_t)state);
}

void rgi_ledger_start(rgi_ledger *l, int size, int n, int least) {
  l->size = size;
  l->least = least;
  for (int i = size - n; i < size - least; i++)
    set(l, i, RGI_SLEEPS);
}

int rgi_ledger_begin(rgi_ledger *l, int size, int n) {
  RGI_TRY(lock(l));
  if (!atomic_load(&l->known)) {
    rgi_ledger_start(l, size, n > 0 && n < size ? n : 0, 0);
    l->n = n;
    atomic_store(&l->known, 1);
  }
  unlock(l);
  return RG_SUCCESS;
}

int rgi_ledger_forsaken(const rgi_ledger *l, int rank) {
  return state_of(l, rank) == RGI_TAKEN && rgi_is_dead(l->of[rank].taker);
}

/* It was taken, and will be back: it knows, or will find out, that it was in vain. */
static int comes_back(const rgi_ledger *l, int rank) {
  return state_of(l, rank) == RGI_TAKEN && !rgi_is_dead(rank) &&
         (rgi_is_dead(l->of[rank].taker) ||
          (l->of[rank].number && rgi_is_revoked(l->of[rank].number)));
}

int rgi_ledger_count(const rgi_ledger *l) {
  int n = 0;
  for (int i = 0; i < l->size; i++)
    n += state_of(l, i) == RGI_SLEEPS && !rgi_is_dead(i);
  return n;
}

int rgi_ledger_take(rgi_ledger *l, int n, int taker, uint64_t number, int ranks[], int *there,
                    int *coming) {
  int found = 0;
  *coming = 0;
  rgi_liveness_look_now();
  RGI_TRY(lock(l));
  *there = rgi_ledger_count(l);
  for (int i = 0; i < l->size && *there >= n && found < n; i++)
    if (state_of(l, i) == RGI_SLEEPS && !rgi_is_dead(i)) {
      l->of[i].taker = taker;
      l->of[i].number = number;
      l->of[i].asked = 0;
      set(l, i, RGI_TAKEN);
      ranks[found++] = i;
    }
  if (found < n) {
    for (int i = 0; i < found; i++) /* one has been seen to be dead meanwhile */
      set(l, ranks[i], RGI_SLEEPS);
    *there = rgi_ledger_count(l);
  } else {
    *there = n;
  }
  for (int i = 0; i < l->size; i++)
    *coming += comes_back(l, i);
  unlock(l);
  return RG_SUCCESS;
}

int rgi_ledger_put(rgi_ledger *l, int rank, rgi_sleeper state) {
  RGI_TRY(lock(l));
  set(l, rank, state);
  unlock(l);
  return RG_SUCCESS;
}

int rgi_ledger_must_ask(rgi_ledger *l, int rank, uint64_t *number) {
  rgi_sleeper_entry *e = &l->of[rank];
  if (e->asked || rgi_is_dead(rank) || !rgi_ledger_forsaken(l, rank))
    return 0;
  e->asked = 1;
  *number = e->number;
  return 1;
}

int rgi_ledger_give_back(rgi_ledger *l, int rank, uint64_t number) {
  RGI_TRY(lock(l));
  if (state_of(l, rank) == RGI_TAKEN && l->of[rank].asked && l->of[rank].number == number)
    set(l, rank, RGI_SLEEPS);
  unlock(l);
  return RG_SUCCESS;
}

/* Somebody who works, or is about to. */
static int is_outside(const rgi_ledger *l, int rank) {
  rgi_sleeper s = state_of(l, rank);
  return !rgi_is_dead(rank) && (s == RGI_WORKS || s == RGI_TAKEN);
}

static int nobody_is_outside(const rgi_ledger *l) {
  for (int i = 0; i < l->size - l->least; i++)
    if (is_outside(l, i))
      return 0;
  return 1;
}

/* One that goes to sleep while another is drawn is not to be seen as both. */
int rgi_ledger_over(rgi_ledger *l, int *over, int *lost) {
  *over = nobody_is_outside(l);
  if (!*over)
    return RG_SUCCESS;
  RGI_TRY(lock(l));
  *over = nobody_is_outside(l);
  *lost = *over && rgi_deaths() > 0;
  for (int i = 0; i < l->size; i++)
    *lost &= state_of(l, i) != RGI_HAS_LEFT;
  unlock(l);
  return RG_SUCCESS;
}
