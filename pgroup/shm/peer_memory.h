/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The private memory of the node's other processes, which the system copies (process_vm_readv). */
#ifndef RGI_PEER_MEMORY_H
#define RGI_PEER_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Copies `bytes` bytes at an address of a process. Returns 0, or errno: ESRCH, it has ended; EPERM,
 * the system does not allow it; EFAULT. */
int rgi_peer_memory_read(pid_t pid, uint64_t address, void *to, size_t bytes);

#endif
