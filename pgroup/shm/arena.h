/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The node arena: one segment of memory that all processes of the world on one node share. It has
 * no name in the file system, so nothing is left behind however the processes end. The system's
 * memory behind it is committed before a block is handed out: a shortage is an error and never a
 * SIGBUS.
 *
 * The segment holds, from its start: a header, the roots, the table of pages, the blocks, the heap.
 * Blocks are named by their offset, which is the same in all processes although each has the
 * segment at an address of its own; 0 is no block. */
#ifndef RGI_ARENA_H
#define RGI_ARENA_H

#include <stddef.h>
#include <stdint.h>

#define RGI_LINE 64 /* a cache line, to which blocks are aligned */

/* What the process that makes the segment sends to the others. */
typedef struct {
  long pid;
  int fd;
  int error;             /* the sender's own; not used here */
  uint64_t size, mapped; /* of the segment without and with the heap */
} rgi_arena_address;

/* By one process of the node: makes the segment. bytes: for blocks. roots: zeroed, for structures
 * of the rooms above (rgi_arena_roots). heap: divided up by the rooms above (rgi_arena_heap).
 * RG_ERR_SYSTEM; after that, as after any error here, the caller calls rgi_arena_close. */
int rgi_arena_make(size_t bytes, size_t roots, size_t heap, rgi_arena_address *address);

/* By the other processes of the node. RG_ERR_SYSTEM. */
int rgi_arena_join(const rgi_arena_address *address);

/* Local: the system frees the segment when the last process has closed it or ended. */
void rgi_arena_close(void);

void *rgi_arena_roots(void);

/* The segment's descriptor, to be sent to a guard. */
int rgi_arena_fd(void);

/* By a guard: maps the segment of this descriptor, and takes it over. 0: it cannot be mapped. */
int rgi_arena_attach(int fd);

/* The heap, for arrays: address space at a multiple of 64 KiB, without memory until a process of
 * the node has committed it. rgi_arena_heap_commit: [offset, offset + bytes) of the heap may be
 * used after RG_SUCCESS, and keeps what it holds if it was committed before; RG_ERR_NOMEM, with
 * `what`, the caller's purpose, in the text. */
void *rgi_arena_heap(void);
size_t rgi_arena_heap_size(void);
int rgi_arena_heap_commit(const char *what, uint64_t offset, size_t bytes);

/* A block of at least so many bytes, not zeroed, aligned to a line, or above 16 KiB to a page. Any
 * process, any thread. Small blocks need no lock unless the arena has to grow. RG_ERR_NOMEM, with
 * `what`, the caller's purpose, in the text, changes nothing. Free blocks above 16 KiB merge with
 * their neighbours; when more than 64 MiB are free their memory goes back to the system. In a full
 * arena small blocks are cut from larger ones of up to 16 KiB; these do not merge again. */
int rgi_arena_alloc(const char *what, size_t bytes, uint64_t *offset);

/* The same; when the arena is full, from a last reserve: for what members need to tell one another
 * that it is full. */
int rgi_arena_alloc_last(const char *what, size_t bytes, uint64_t *offset);

/* Frees a block of that size; by any process. */
void rgi_arena_free(uint64_t offset, size_t bytes);

/* Where a block is, in this process; its offset, 0 for NULL. */
void *rgi_arena_at(uint64_t offset);
uint64_t rgi_arena_offset(const void *at);

typedef struct {
  size_t size;  /* of the segment */
  size_t grown; /* bytes that have memory, for blocks */
  size_t used;  /* bytes in blocks that are allocated */
} rgi_arena_usage;
void rgi_arena_get_usage(rgi_arena_usage *usage);

#endif
