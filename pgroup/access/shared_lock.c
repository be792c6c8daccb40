/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Lamport's bakery. A process takes a ticket and writes it into its claim. It has the lock when no
 * claim with an earlier ticket excludes it. While it takes the ticket its claim says so, and counts
 * as one with the earliest ticket: a process that has a later ticket waits until it can compare.
 *
 * Each process writes its own claim only, and the claims are all that there is to know, so a death
 * at any moment leaves the lock whole: the claim of a dead process counts for nothing, and the
 * first process that it would exclude clears it. (Counts of owners would be lost with an owner.)
 *
 * A shared claim is not compared with the others while no claim is exclusive. The count of these is
 * raised before the ticket is taken and lowered after the claim is cleared, so a death may leave it
 * too high, never too low: too high only means that shared claims are compared, too. */
#include "access/shared_lock.h"

#include "base/error.h"
#include "base/log.h"
#include "shm/process.h"

/* A claim: a ticket, from 1 on, and these bits. */
#define EXCLUSIVE UINT64_C(1)
#define OWNS UINT64_C(2)    /* the lock, exclusively */
#define CHOOSES UINT64_C(4) /* a ticket; it has none yet */
#define TICKET_SHIFT 3

static int excludes(uint64_t other, uint64_t mine) {
  return other && other >> TICKET_SHIFT < mine >> TICKET_SHIFT && (other | mine) & EXCLUSIVE;
}

static void drop_exclusive(rgi_shared_lock *lock) {
  atomic_fetch_sub(&lock->exclusive, 1);
}

/* 0: the process lives. A process that was choosing need not have been counted. */
static int give_back(const rgi_shared_lock_user *user, rgi_shared_lock_claim *claim, uint64_t asked,
                     const char *call) {
  if (!rgi_process_is_dead(claim->rank))
    return 0;
  if (atomic_compare_exchange_strong(&claim->asked, &asked, 0)) {
    if (asked & EXCLUSIVE && !(asked & CHOOSES))
      drop_exclusive(user->lock);
    if (asked & OWNS)
      rgi_log(RGI_LOG_WARN,
              "%s: rank %d has died with the lock: what it was writing may be half written", call,
              claim->rank);
  }
  return 1;
}

/* A living process whose claim excludes the caller's, with the claim; or NULL. */
static const rgi_shared_lock_claim *find_earlier(const rgi_shared_lock_user *user, uint64_t mine,
                                                 const char *call, uint64_t *asked) {
  for (int i = 0; i < user->n; i++) {
    rgi_shared_lock_claim *claim = &user->claims[i];
    *asked = atomic_load(&claim->asked);
    if (excludes(*asked, mine) && !give_back(user, claim, *asked, call))
      return claim;
  }
  return NULL;
}

/* A process that chooses does not ring when it has chosen. */
static int await_turn(const rgi_shared_lock_user *user, uint64_t mine, rgi_wait *wait) {
  rgi_bell *changed = &user->lock->changed;
  int error = RG_SUCCESS;
  rgi_bell_expect(changed);
  while (!error) {
    uint64_t asked;
    uint32_t bell = atomic_load(&changed->value);
    const rgi_shared_lock_claim *claim = find_earlier(user, mine, wait->call, &asked);
    if (!claim)
      break;
    wait->peer = claim->rank;
    error = asked & CHOOSES ? rgi_wait_more(wait) : rgi_wait_bell(wait, changed, bell, 1);
  }
  rgi_bell_expect_end(changed);
  return error;
}

int rgi_shared_lock_acquire(const rgi_shared_lock_user *user, rgi_shared_lock_kind kind,
                            rgi_wait *wait) {
  rgi_shared_lock *lock = user->lock;
  _Atomic uint64_t *claim = &user->claims[user->me].asked;
  uint64_t mine = kind == RGI_SHARED_LOCK_EXCLUSIVE ? EXCLUSIVE : 0, earlier;
  int error = RG_SUCCESS;
  atomic_store(claim, mine | CHOOSES);
  if (mine & EXCLUSIVE)
    atomic_fetch_add(&lock->exclusive, 1);
  mine |= (atomic_fetch_add(&lock->tickets, 1) + 1) << TICKET_SHIFT;
  atomic_store(claim, mine);
  if ((mine & EXCLUSIVE || atomic_load(&lock->exclusive)) &&
      find_earlier(user, mine, wait->call, &earlier))
    error = await_turn(user, mine, wait);
  if (error)
    rgi_shared_lock_release(user, kind);
  else if (mine & EXCLUSIVE) {
    atomic_store_explicit(claim, mine | OWNS, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* before what the owner writes */
  }
  return error;
}

void rgi_shared_lock_release(const rgi_shared_lock_user *user, rgi_shared_lock_kind kind) {
  atomic_store(&user->claims[user->me].asked, 0);
  if (kind == RGI_SHARED_LOCK_EXCLUSIVE)
    drop_exclusive(user->lock);
  rgi_bell_ring_expected(&user->lock->changed);
}
