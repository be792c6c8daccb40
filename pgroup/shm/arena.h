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

#include <stddef.h>
#include <stdint.h>

#define RGI_LINE 64 /* blocks are so aligned: a cache line */

/* How the other processes of the node find the segment that one of them has made. */
typedef struct {
  long pid;
  int fd, error;         /* error: for the caller, who sends this to the others */
  uint64_t size, mapped; /* without and with the heap */
} rgi_arena_address;

/* By one process of the node: makes the segment. bytes: for blocks. roots: more bytes, zeroed, at
 * the start of the segment, for what the layers above find there (rgi_arena_roots). heap: yet more
 * bytes behind the blocks, which the layers above divide up. RG_ERR_SYSTEM; then rgi_arena_close is
 * due, as after any error here. */
int rgi_arena_make(size_t bytes, size_t roots, size_t heap, rgi_arena_address *address);

/* By the others. RG_ERR_SYSTEM. */
int rgi_arena_join(const rgi_arena_address *address);

/* Local: the segment goes when the last process has closed it or ended. */
void rgi_arena_close(void);

void *rgi_arena_roots(void);

/* The segment's descriptor, for a guard. */
int rgi_arena_fd(void);

/* By a guard: maps the segment of this descriptor, which is taken over. 0: it cannot be mapped. */
int rgi_arena_attach(int fd);

/* The heap, for arrays: address space at a multiple of 64 KiB, without memory until this
 * process or another has committed it: [offset, offset + bytes) of the heap may be
 * used after RG_SUCCESS; RG_ERR_NOMEM (what: who wants it). What it holds is kept
 * if it was reserved before. */
void *rgi_arena_heap(void);
size_t rgi_arena_heap_size(void);
int rgi_arena_heap_commit(const char *what, uint64_t offset, size_t bytes);

/* A block of at least so many bytes, not zeroed, aligned to a line, or above 16 KiB
 * to a page. Any process, any thread; small blocks without a lock unless the arena
 * has to grow. RG_ERR_NOMEM (what: who wants it, for the text) leaves everything
 * else as it was. Large blocks that are free grow together with their neighbours,
 * and above 64 MiB they go back to the system. In a full arena small blocks are cut
 * from larger ones of up to 16 KiB; these do not grow together again. */
int rgi_arena_alloc(const char *what, size_t bytes, uint64_t *offset);

/* The same from a last reserve when the arena is full: for what members need to
 * tell one another that it is. */
int rgi_arena_alloc_last(const char *what, size_t bytes, uint64_t *offset);

/* Gives a block of that size back; by any process. */
void rgi_arena_free(uint64_t offset, size_t bytes);

/* Where a block is, in this process; its offset, 0 for NULL. */
void *rgi_arena_at(uint64_t offset);
uint64_t rgi_arena_offset(const void *at);

typedef struct {
  size_t size;  /* of the segment */
  size_t grown; /* so much of it has memory, for blocks */
  size_t used;  /* in blocks that are taken now */
} rgi_arena_usage;
void rgi_arena_get_usage(rgi_arena_usage *usage);

#endif
