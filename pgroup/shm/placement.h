/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * On which memory node the pages of an object lie whose parts are used by different processes. A
 * page belongs to the part that has most of its bytes; of several such parts, to the first. */
#ifndef RGI_PLACEMENT_H
#define RGI_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

/* No memory node: the system chooses. */
#define RGI_PLACEMENT_ANY (-1)

/* Parts side by side, each used by one process of the node most of the time. */
typedef struct {
  int parts;
  uint64_t each;       /* bytes of a part, where `end` is NULL */
  const uint64_t *end; /* of each part, from the object's start, ascending */
  const int16_t *node; /* of each part's process, or RGI_PLACEMENT_ANY */
} rgi_placement;

/* Whole pages of the segment in which the object lies. */
typedef struct {
  uint64_t begin, end; /* bytes */
  int node;
} rgi_placement_range;

/* offset: where the object begins in the segment. range->end: 0 at first, and then as the call
 * before has left it. The ranges come in ascending order, and neighbours have different nodes. 0:
 * there is no further one. */
int rgi_placement_next(const rgi_placement *placement, uint64_t offset, rgi_placement_range *range);

/* Binds pages, which have no memory yet, to a memory node, or to none (RGI_PLACEMENT_ANY). What
 * cannot be bound is left to the system. */
typedef void rgi_placement_binder(void *at, size_t bytes, int node);

/* NULL, as at first: nothing is bound. While no other thread allocates. */
void rgi_placement_set_binder(rgi_placement_binder *binder);
int rgi_placement_is_active(void);

/* Binds the pages of an object at `offset` of the segment that begins at `base`; binds the pages of
 * `bytes` there to no node. */
void rgi_placement_bind(const rgi_placement *placement, uint64_t offset, void *base);
void rgi_placement_unbind(uint64_t offset, size_t bytes, void *base);

#endif
