/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "shm/peer_memory.h"

#include <errno.h>
#include <sys/uio.h>

/* The system copies at most about 2 GiB in a call, and may copy less. */
#define MOST ((size_t)1 << 30)

int rgi_peer_memory_read(pid_t pid, uint64_t address, void *to, size_t bytes) {
  char *at = to;
  while (bytes > 0) {
    size_t part = bytes < MOST ? bytes : MOST;
    struct iovec here = {at, part}, there = {(void *)(uintptr_t)address, part};
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return got < 0 ? errno : EFAULT;
    at += got;
    address += (uint64_t)got;
    bytes -= (size_t)got;
  }
  return 0;
}
