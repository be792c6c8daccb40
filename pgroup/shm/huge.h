/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Huge pages of shared memory, where the system has them: then a processor needs one entry of its
 * address tables for 2 MiB instead of 512. */
#ifndef RGI_HUGE_H
#define RGI_HUGE_H

#include <stddef.h>

#define RGI_HUGE ((size_t)2 << 20)

/* As /sys/kernel/mm/transparent_hugepage/shmem_enabled says. */
typedef enum {
  RGI_HUGE_NEVER,
  RGI_HUGE_ADVISED, /* where a process asks for them and touches the memory first */
  RGI_HUGE_ALWAYS
} rgi_huge_use;

/* What a file of that form says; path: NULL, the system's. */
rgi_huge_use rgi_huge_find(const char *path);

/* Maps the whole segment at a multiple of RGI_HUGE and asks for huge pages. NULL: as mmap. */
void *rgi_huge_map(int fd, size_t bytes);

/* Where huge pages come by touching alone: touches those that lie in the range as a whole and have
 * no memory. Errors are ignored: the caller adds the memory that is missing afterwards. */
void rgi_huge_touch(void *at, size_t bytes);

#endif
