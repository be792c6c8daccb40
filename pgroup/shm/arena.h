/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The node arena: one segment of memory that all processes of the world on one node share. It has
 * no name in the file system, so nothing is left behind however the processes end. The system's
 * memory behind it is committed before a block is handed out: a shortage is an error and never a
 * SIGBUS. But for large blocks of the application's own memory, which is promised only.
 *
 * The segment holds, from its start: a header, the roots, the table of pages, the blocks, the pages
 * that are set aside, the heap.
 * Blocks are named by their offset, which is the same in all processes although each has the
 * segment at an address of its own; 0 is no block. */
#ifndef RGI_ARENA_H
#define RGI_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "shm/lines.h"
#include "shm/placement.h"

/* What the process that makes the segment sends to the others. */
typedef struct {
  int error;             /* the sender's own; not used here */
  uint64_t number;       /* random: the segment holds it, too */
  uint64_t size, mapped; /* of the segment without and with the heap */
} rgi_arena_address;

/* What a block is needed for. When the arena is full, a block takes pages that are set aside for
 * its purpose or for one before it; they have memory from the beginning, and are free again when
 * the block is freed. */
typedef enum {
  RGI_ARENA_ANY,       /* nothing is set aside */
  RGI_ARENA_TELL,      /* members tell one another that the arena is full; collectives' messages */
  RGI_ARENA_SURVIVORS, /* the groups that survivors form */
  RGI_ARENA_DECISION,  /* what a decision after a death takes until it is made */
  RGI_ARENA_PURPOSES
} rgi_arena_purpose;

/* bytes: for blocks. roots: zeroed, for structures of the rooms above (rgi_arena_roots). heap:
 * divided up by the rooms above (rgi_arena_heap). aside: for each purpose, besides `bytes`. placed:
 * where the roots begin with parts of processes, or NULL. processes: of the node; 0: not known. */
typedef struct {
  size_t bytes, roots, heap, aside[RGI_ARENA_PURPOSES];
  const rgi_placement *placed;
  int processes;
} rgi_arena_sizes;

/* By one process of the node: makes the segment. RG_ERR_SYSTEM; RG_ERR_OPTION: it would be larger
 * than RGI_LINE_REACH. After any error here the caller calls rgi_arena_close. */
int rgi_arena_make(const rgi_arena_sizes *sizes, rgi_arena_address *address);

/* By the other processes of the node, with a descriptor of the segment, which this takes over.
 * RG_ERR_SYSTEM: also where it is that of another segment. */
int rgi_arena_join(const rgi_arena_address *address, int fd);

/* Local: the system frees the segment when the last process has closed it or ended. */
void rgi_arena_close(void);

void *rgi_arena_roots(void);

/* The segment's descriptor, to be passed to another process. */
int rgi_arena_fd(void);

/* By a guard: maps the segment of this descriptor, and takes it over. 0: it cannot be mapped. */
int rgi_arena_attach(int fd);

/* The heap, for arrays: address space at a multiple of 64 KiB, without memory until a process of
 * the node has committed it. rgi_arena_heap_commit: [offset, offset + bytes) of the heap, of which
 * nothing is committed yet, may be used after RG_SUCCESS; RG_ERR_NOMEM, with `what`, the caller's
 * purpose, in the text, changes nothing. */
void *rgi_arena_heap(void);
size_t rgi_arena_heap_size(void);
int rgi_arena_heap_commit(const char *what, uint64_t offset, size_t bytes);

/* A block of at least so many bytes, not zeroed, aligned to a line, or above 16 KiB to a page. Any
 * process, any thread. Small blocks need no lock unless the arena has to grow. RG_ERR_NOMEM, with
 * `what`, the caller's purpose, in the text, changes nothing. Free blocks above 16 KiB merge with
 * their neighbours; when more than 64 MiB for each process of the node are free, or an eighth of
 * the arena and 64 MiB, their memory goes back to the system. In a full arena small blocks are cut
 * from larger ones of up to 16 KiB, and before a call fails what is kept for later is given back:
 * by the caches (below); free small blocks become pages where they fill such; the memory of all
 * free pages goes back to the system. */
int rgi_arena_alloc(const char *what, size_t bytes, uint64_t *offset);

/* As rgi_arena_alloc for a purpose. */
int rgi_arena_alloc_for(rgi_arena_purpose purpose, const char *what, size_t bytes,
                        uint64_t *offset);

/* As rgi_arena_alloc_for for a block that will be freed soon. */
int rgi_arena_alloc_brief(rgi_arena_purpose purpose, const char *what, size_t bytes,
                          uint64_t *offset);

/* As rgi_arena_alloc_brief, with the pages of its parts on the memory nodes of their processes, if
 * it is above 16 KiB and the pages are not of those set aside. placed: NULL, or as shm/placement.h.
 * Its memory is new from the system: an allocation and a free cost what the system takes to clear
 * pages. Freed by rgi_arena_free_placed. */
int rgi_arena_alloc_placed(rgi_arena_purpose purpose, const char *what, size_t bytes,
                           const rgi_placement *placed, uint64_t *offset);
void rgi_arena_free_placed(uint64_t offset, size_t bytes);

/* A zeroed block above 16 KiB to which memory is added as its pages are touched, on the memory node
 * of the process that does. The bytes are promised: RG_ERR_LIMIT where the node has not so much
 * memory left besides what it has promised before. A page for which there is none after all is a
 * SIGBUS. Freed by rgi_arena_free_promised. */
int rgi_arena_alloc_promised(const char *what, size_t bytes, uint64_t *offset);
void rgi_arena_free_promised(uint64_t offset, size_t bytes);

/* What a room keeps of blocks that it does not need now. give_back frees what any process of the
 * node keeps, as far as that can be told; returns how many blocks that were. It is called by
 * rgi_arena_alloc and rgi_arena_heap_commit in any thread, with whatever locks the caller of those
 * holds: it takes no lock under which anybody allocates, does not allocate and does not wait. */
typedef struct rgi_arena_cache {
  int (*give_back)(void);
  struct rgi_arena_cache *next; /* the arena's */
} rgi_arena_cache;

/* Adds a cache, once and for good; a second time does nothing. While no other thread allocates. */
void rgi_arena_add_cache(rgi_arena_cache *cache);

/* What the slots and messages of this thread are for from now on (RGI_ARENA_ANY at first); returns
 * what they were for. A caller sets it back. */
rgi_arena_purpose rgi_arena_set_purpose(rgi_arena_purpose purpose);
rgi_arena_purpose rgi_arena_get_purpose(void);

/* Frees a block of that size; by any process. */
void rgi_arena_free(uint64_t offset, size_t bytes);

/* Whether a block is of the pages that are set aside: it is to be freed and not kept for later. */
int rgi_arena_is_aside(uint64_t offset);

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
