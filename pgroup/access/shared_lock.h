/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Locks in memory that the processes of a node share, which one owner has exclusively or several
 * share. They are fair: the process that asks first gets the lock first. A lock whose owner has
 * died is given back: the next process gets it, and what the owner was writing may be half
 * written. */
#ifndef RGI_SHARED_LOCK_H
#define RGI_SHARED_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bell.h"
#include "progress/wait.h"
#include "shm/arena.h"

typedef enum { RGI_SHARED_LOCK_SHARED, RGI_SHARED_LOCK_EXCLUSIVE } rgi_shared_lock_kind;

/* What one process has asked for. */
typedef struct {
  _Atomic uint64_t asked; /* its ticket and the kind; 0: it neither has the lock nor waits for it */
  int32_t rank;           /* of the process in the world: set by the process that makes the lock */
} rgi_shared_lock_claim;

/* All zero: free, if no claim asks for it. Aligned to a line. */
typedef struct {
  _Atomic uint64_t tickets;   /* that were taken */
  _Atomic uint32_t exclusive; /* claims that are exclusive, or more */
  rgi_bell changed;
  char pad[RGI_LINE - sizeof(uint64_t) - sizeof(uint32_t) - sizeof(rgi_bell)];
} rgi_shared_lock;

/* A lock with the claims of the n processes that use it, of which the caller is number me. */
typedef struct {
  rgi_shared_lock *lock;
  rgi_shared_lock_claim *claims;
  int n, me;
} rgi_shared_lock_user;

/* Waits for the caller's turn; wait has been started. After an error of the wait the caller does
 * not have the lock and the others can get it. A process that finds an exclusive owner dead says so
 * in a warning. */
int rgi_shared_lock_acquire(const rgi_shared_lock_user *user, rgi_shared_lock_kind kind,
                            rgi_wait *wait);

void rgi_shared_lock_release(const rgi_shared_lock_user *user, rgi_shared_lock_kind kind);

#endif
