/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "access/lock.h"

#include "base/error.h"
#include "progress/wait.h"

int rgi_lock_wait(rgi_lock *lock, const char *call) {
  rgi_wait w;
  rgi_wait_start_unscoped(&w, call, -1); /* only the owner's death ends it */
  while (!rgi_lock_try(lock)) {
    uint32_t owner = atomic_load_explicit(&lock->owner.value, memory_order_relaxed);
    if (!owner)
      continue;
    w.peer = w.watched = (int)owner - 1;
    int error = rgi_wait_bell(&w, &lock->owner, owner, 1);
    if (error) { /* a wake-up that the caller may have got is another one's now */
      rgi_bell_wake_some(&lock->owner, 1);
      return error;
    }
  }
  return RG_SUCCESS;
}
