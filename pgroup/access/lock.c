/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "access/lock.h"

#include "base/error.h"
#include "base/log.h"
#include "progress/wait.h"
#include "shm/process.h"

int rgi_lock_wait(rgi_lock *lock, const char *call) {
  rgi_wait wait;
  rgi_wait_start_unscoped(&wait, call, -1); /* only the owner's death ends it */
  while (!rgi_lock_try(lock)) {
    uint32_t owner = atomic_load_explicit(&lock->owner.value, memory_order_relaxed);
    if (!owner)
      continue;
    wait.peer = wait.watched = (int)owner - 1;
    int error = rgi_wait_bell(&wait, &lock->owner, owner, 1);
    if (error) { /* a wake-up that the caller may have got is another one's now */
      rgi_bell_wake_some(&lock->owner, 1);
      return error;
    }
  }
  return RG_SUCCESS;
}

/* One of the processes that see the death becomes the owner. */
static int inherit(rgi_lock *lock, const char *call) {
  uint32_t owner = atomic_load(&lock->owner.value);
  if (!owner || !rgi_process_is_dead((int)owner - 1) ||
      !atomic_compare_exchange_strong(&lock->owner.value, &owner, (uint32_t)rgi_node.rank + 1))
    return 0;
  rgi_log(RGI_LOG_WARN,
          "%s: rank %d has died in such a call: what it was writing may be half written", call,
          (int)owner - 1);
  return 1;
}

int rgi_lock_wait_robust(rgi_lock *lock, const char *call) {
  for (;;) {
    int error = rgi_lock_wait(lock, call);
    if (error != RG_ERR_PROC_FAILED)
      return error;
    if (inherit(lock, call))
      return RG_SUCCESS;
  }
}
