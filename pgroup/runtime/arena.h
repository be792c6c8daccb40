/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The node arena: one segment of memory that all processes of the world on one
 * node share. It has no name in the file system, so that nothing is left behind
 * however the processes end. Memory is reserved before it is handed out: a
 * shortage is an error and never a SIGBUS.
 *
 * Blocks are named by their offset, which is the same in all processes although
 * the segment lies at different addresses; 0 is no block. */
#ifndef RGI_ARENA_H
#define RGI_ARENA_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define RGI_LINE 64 /* blocks are so aligned: a cache line */

/* Made by all processes of one node, together: collective over `node`. bytes: for
 * blocks. roots: more bytes, zeroed, at the start of the segment, for what the
 * layers above find there (rgi_arena_roots). The same error on all processes. */
int rgi_arena_open(MPI_Comm node, size_t bytes, size_t roots);

/* Local: the segment goes when the last process has closed it or ended. */
void rgi_arena_close(void);

void *rgi_arena_roots(void);

/* A block of at least so many bytes, not zeroed. Any process, any thread;
 * lock-free unless the arena has to grow. RG_ERR_NOMEM (what: who wants it, for
 * the text) leaves everything else as it was. In a full arena larger blocks that
 * are free are cut up; they do not grow together again. */
int rgi_arena_take(const char *what, size_t bytes, uint64_t *offset);

/* Gives a block of that size back; by any process. */
void rgi_arena_give(uint64_t offset, size_t bytes);

/* Where a block is, in this process. */
void *rgi_arena_at(uint64_t offset);

typedef struct {
  size_t size;  /* of the segment */
  size_t grown; /* so much of it has been reserved for blocks */
  size_t used;  /* in blocks that are taken now */
} rgi_arena_usage;
void rgi_arena_ask(rgi_arena_usage *usage);

#endif
