/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The size of the memory that this process may use. */
#ifndef RGI_MEMORY_H
#define RGI_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Half of the machine's memory, or of what a control group (base/cgroup.h, also for root) or a
 * limit of the process (ulimit -v, -f) allows, in whole MiB; at least 1 GiB, at most 2 TiB. */
size_t rgi_memory_half(const char *root);

/* Bytes that this process could still take now: of the machine, and of its control groups (also for
 * root). UINT64_MAX: neither can be read. */
uint64_t rgi_memory_free(const char *root);

#endif
