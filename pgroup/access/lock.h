/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Locks in memory that the processes of a node share. The word names the owner, so that a process
 * that waits for a lock sees the owner's death. Without contention: one atomic operation to acquire
 * the lock, one to release it. */
#ifndef RGI_LOCK_H
#define RGI_LOCK_H

#include "base/bell.h"
#include "shm/arena.h"
#include "shm/node.h"

/* All zero: free. Aligned to a line. */
typedef struct {
  rgi_bell owner; /* the owner's rank in the world + 1; 0: free */
  char pad[RGI_LINE - sizeof(rgi_bell)];
} rgi_lock;

/* Waits until the lock is free and acquires it. RG_ERR_PROC_FAILED: the owner has died with the
 * lock; RG_ERR_TIMEOUT. */
int rgi_lock_wait(rgi_lock *lock, const char *call);

/* As rgi_lock_wait, but a lock whose owner has died is given back: the caller acquires it, with a
 * warning that what the owner was writing may be half written. */
int rgi_lock_wait_robust(rgi_lock *lock, const char *call);

static inline int rgi_lock_try(rgi_lock *lock) {
  uint32_t unowned = 0;
  return atomic_compare_exchange_strong_explicit(&lock->owner.value, &unowned,
                                                 (uint32_t)rgi_node.rank + 1, memory_order_acquire,
                                                 memory_order_relaxed);
}

static inline int rgi_lock_acquire(rgi_lock *lock, const char *call) {
  return rgi_lock_try(lock) ? 0 : rgi_lock_wait(lock, call);
}

/* Either this process sees that another one is about to sleep, or the other one sees that the lock
 * is free: by the fence in bell.h. An exchange would be no such fence on every processor: the load
 * of sleepers may come before the exchange's store. */
static inline void rgi_lock_release(rgi_lock *lock) {
  atomic_store_explicit(&lock->owner.value, 0, memory_order_release);
  rgi_bell_wake_some(&lock->owner, 1);
}

#endif
