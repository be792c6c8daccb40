/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Every caller takes a ticket. A ticket may share the lock when all earlier ones have got it and no
 * exclusive owner is among them any more; it may have the lock alone when all earlier ones have
 * released it. */
#include "access/shared_lock.h"

#include "base/error.h"

int rgi_shared_lock_acquire(rgi_shared_lock *lock, rgi_shared_lock_kind kind, rgi_wait *w) {
  _Atomic uint32_t *turn = kind == RGI_SHARED_LOCK_SHARED ? &lock->shared : &lock->exclusive;
  uint32_t ticket = atomic_fetch_add(&lock->next, 1);
  for (;;) {
    uint32_t bell = atomic_load(&lock->changed.value);
    if (atomic_load(turn) == ticket)
      break;
    RGI_TRY(rgi_wait_bell(w, &lock->changed, bell, 1));
  }
  if (kind == RGI_SHARED_LOCK_SHARED) {
    atomic_fetch_add(&lock->shared, 1);
    rgi_bell_ring(&lock->changed);
  }
  return RG_SUCCESS;
}

void rgi_shared_lock_release(rgi_shared_lock *lock, rgi_shared_lock_kind kind) {
  if (kind == RGI_SHARED_LOCK_EXCLUSIVE)
    atomic_fetch_add(&lock->shared, 1);
  atomic_fetch_add(&lock->exclusive, 1);
  rgi_bell_ring(&lock->changed);
}
