/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The array heap of a world that spans nodes: each process has a part of its node's heap, from
 * which its memory of arrays is taken. Other processes address a byte of it as (rank of the world,
 * offset in that process's heap part). A world on one node has no heap. */
#ifndef RGI_HEAP_H
#define RGI_HEAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  int open;
  uint64_t size;   /* of each process's part */
  char *node_heap; /* all parts of this node, in this process's memory */
} rgi_heap_state;

extern rgi_heap_state rgi_heap;

/* Whether there are heap parts: the world spans nodes, and all its processes have this
 * library. Local. */
int rgi_heap_is_open(void);

/* A block of the caller's own part, aligned to a cache line, not zeroed. Any thread.
 * RG_ERR_NOMEM (the text says how much is wanted and free, and which option to set). */
int rgi_heap_take(const char *what, size_t bytes, uint64_t *offset);
void rgi_heap_give(uint64_t offset, size_t bytes);

/* Where a byte of a process's part is in this process's memory; NULL if that process is on
 * another node. */
void *rgi_heap_at(int world_rank, uint64_t offset);

/* The caller's own part. */
char *rgi_heap_own(void);

/* For the engine, once: parts of this size; RG_ERR_NOMEM. After _close blocks may still be given
 * back, without effect. */
int rgi_heap_open(uint64_t size);
void rgi_heap_close(void);

/* --- one part: heap_part.c -------------------------------------------------------------------- */

/* Which ranges of a heap part are free. A block is taken at the lowest offset where it fits, and
 * adjacent free ranges are merged. Each process manages its own part; the caller locks.
 * O(n) for n free ranges. */

typedef struct {
  uint64_t start, length;
} rgi_heap_part_range;

typedef struct {
  rgi_heap_part_range *free; /* by offset */
  int64_t count, room;
  uint64_t size, left; /* in bytes: of all, of what is free */
} rgi_heap_part;

/* All of it is free. RG_ERR_NOMEM. */
int rgi_heap_part_open(rgi_heap_part *part, uint64_t size);
void rgi_heap_part_close(rgi_heap_part *part);

/* bytes: a result of rgi_heap_part_round. Returns 0 if no free range is long enough, else 1. */
int rgi_heap_part_take(rgi_heap_part *part, uint64_t bytes, uint64_t *offset);

/* Gives back what was taken. Without memory for its own records (then it returns 0)
 * the range stays taken. */
int rgi_heap_part_give(rgi_heap_part *part, uint64_t offset, uint64_t bytes);

/* The longest free range. */
uint64_t rgi_heap_part_longest(const rgi_heap_part *part);

/* Up to a multiple of a cache line, at least one. */
uint64_t rgi_heap_part_round(uint64_t bytes);

#endif
