/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Locks in memory that the processes of a node share, which one owner has exclusively or several
 * share. They are fair: who asks first gets the lock first. */
#ifndef RGI_SHARED_LOCK_H
#define RGI_SHARED_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bell.h"
#include "progress/wait.h"
#include "shm/arena.h"

typedef enum { RGI_SHARED_LOCK_SHARED, RGI_SHARED_LOCK_EXCLUSIVE } rgi_shared_lock_kind;

/* All zero: free. Aligned to a line. */
typedef struct {
  _Atomic uint32_t next;      /* the next ticket */
  _Atomic uint32_t shared;    /* the ticket that may share the lock now */
  _Atomic uint32_t exclusive; /* the ticket that may have it alone now: so many have released it */
  rgi_bell changed;
  char pad[RGI_LINE - 3 * sizeof(uint32_t) - sizeof(rgi_bell)];
} rgi_shared_lock;

/* Waits for the caller's turn; w has been started. After an error of the wait the lock must not be
 * used any more: the caller's turn will never end. */
int rgi_shared_lock_acquire(rgi_shared_lock *lock, rgi_shared_lock_kind kind, rgi_wait *w);

void rgi_shared_lock_release(rgi_shared_lock *lock, rgi_shared_lock_kind kind);

#endif
