/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Memory for what a call needs for a short time while others wait for it: where the system has
 * none, it is taken of a megabyte that each process has from its start. So a member that lacks
 * memory still tells the others what it owes them. What stays after the call, or grows with the
 * data, is allocated before the call takes part in anything. Any thread. */
#ifndef RGI_SPARE_H
#define RGI_SPARE_H

#include <stddef.h>

/* As malloc and calloc. NULL: the megabyte does not suffice either. */
void *rgi_spare_alloc(size_t bytes);
void *rgi_spare_alloc_zeroed(size_t n, size_t bytes);

/* Gives back what is behind the first bytes of a block, where that can be. */
void *rgi_spare_shrink(void *block, size_t bytes);

/* Of one of the above; NULL is fine. */
void rgi_spare_free(void *block);

#endif
