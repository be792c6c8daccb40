/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The entries of the reserve's table, one for each process of the world: what the process does, and
 * who has acquired it. An entry changes by a compare-and-swap of its word.
 *
 * On one node, and in a job that survives, a process's entry is in the arena of its own node, and
 * processes of other nodes reach it by that node's server (noded/server/server.h). So it outlives
 * the process, and where it is lost, with the node, the process is dead. In a job on several nodes
 * that does not survive, one process has all entries in its own memory. */
#ifndef RGI_RESERVE_ENTRY_H
#define RGI_RESERVE_ENTRY_H

#include <stdint.h>

/* What a process does. It works at first, or sleeps if it is among the last n.
 *
 *   from               to        by whom
 *   WORKING, ACQUIRED  SLEEPING  the process: it parks, or has given itself back
 *   SLEEPING           CLAIMED   an acquirer that does not know yet whether it gets enough
 *   CLAIMED            ACQUIRED  that acquirer; it sends the message after this
 *   CLAIMED            SLEEPING  that acquirer, or the process, if that acquirer has died
 *   ACQUIRED           WORKING   the process, which has the message
 *   ACQUIRED           SLEEPING  the acquirer, which could not send the message
 *   WORKING            LEFT      the process */
typedef enum {
  RGI_RESERVE_AT_FIRST, /* WORKING or SLEEPING */
  RGI_RESERVE_WORKING,
  RGI_RESERVE_SLEEPING,
  RGI_RESERVE_CLAIMED,
  RGI_RESERVE_ACQUIRED,
  RGI_RESERVE_LEFT,
  RGI_RESERVE_HOLDER /* it has all entries, and is never acquired */
} rgi_reserve_state;

/* 16 bytes, zero at first. number: of the operation that the process was acquired for, 0: none;
 * written before the word says ACQUIRED. */
typedef struct {
  int64_t word; /* state, acquirer, and how often it has changed: no word comes twice */
  uint64_t number;
} rgi_reserve_entry;

static inline rgi_reserve_state rgi_reserve_word_state(int64_t word) {
  return (rgi_reserve_state)(word & 7);
}

static inline int rgi_reserve_word_acquirer(int64_t word) {
  return (int)(word >> 3 & 0x7fffffff);
}

/* The word that follows. */
static inline int64_t rgi_reserve_word_next(int64_t word, rgi_reserve_state state, int acquirer) {
  uint64_t changes = ((uint64_t)word >> 34) + 1;
  return (int64_t)(changes << 34 | (uint64_t)acquirer << 3 | (uint64_t)state);
}

/* spread: the entries are in the nodes' arenas; else the caller has all. RG_ERR_NOMEM. */
int rgi_reserve_entries_open(int spread);
void rgi_reserve_entries_close(void);

/* The ranks whose entries are read together, in ascending order; how many such parts there are: the
 * nodes, or one. */
int rgi_reserve_entries_parts(void);
const int *rgi_reserve_entries_ranks(int part, int *count);

/* The entries of a part: by a query, if it is another node. all: in the order of the world's ranks;
 * the others are not changed. Those of a node that is lost become zero: their processes are dead.
 */
int rgi_reserve_entries_read(int part, rgi_reserve_entry all[]);
int rgi_reserve_entries_read_all(rgi_reserve_entry all[]);

/* Replaces *word of a process by next; *word becomes what it was, thus it does not change if that
 * was done. RG_ERR_PROC_FAILED: the process's node is lost. */
int rgi_reserve_entry_swap(int rank, int64_t *word, int64_t next);

/* The caller has claimed the process. */
int rgi_reserve_entry_set_number(int rank, uint64_t number);

#endif
