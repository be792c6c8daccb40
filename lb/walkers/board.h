/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The board of a node: in its arena, what the groups there tell of themselves, and the
 * walkers that wait. Everything on it is read and changed under its lock. */
#ifndef RGI_WALKERS_BOARD_H
#define RGI_WALKERS_BOARD_H

#include "base/bell.h"
#include "shm/arena.h"
#include "walkers/balancer.h"

typedef struct {
  int64_t stamp;         /* of the group's walker */
  int32_t leads;         /* the process is the leader of a group */
  int32_t lowest;        /* lowest rank in it */
  int64_t seen;          /* the version that the leader, being idle, had no answer to; or -1 */
  _Atomic int32_t waits; /* the process wants to be told of changes */
  rg_load load;
} rgi_row;

typedef struct rgi_board {
  rgi_bell lock;
  int64_t version;            /* of the rows, changes that matter to who waits */
  int64_t open;               /* walkers of this node that have not ended */
  int64_t credit;             /* the node's share of the credit is 2^-credit */
  int64_t units;              /* that groups led here have done */
  int32_t returned;           /* the credit has been given back */
  int32_t ended;              /* all walkers of all nodes have */
  int32_t count, first, room; /* entries that wait */
  uint64_t entries;           /* their block */
  double merge;               /* seconds, mean */
  int32_t processes;
  rgi_row row[]; /* of each process of the balancer on this node, in the order of ranks */
} rgi_board;

/* Attaches to the node's board. Every process of the balancer. */
int rgi_board_open(rg_balancer b);
void rgi_board_close(rg_balancer b);
/* The same without a look at what is there: after a death. */
void rgi_board_forget(rg_balancer b);

int rgi_board_lock(rg_balancer b);
void rgi_board_unlock(rg_balancer b);

/* --- with the lock held -------------------------------------------------------------- */

/* The row of a rank, or NULL if it is on another node. */
rgi_row *rgi_board_row(rg_balancer b, int rank);
/* Something has changed that those who wait may want to know. */
void rgi_board_changed(rg_balancer b);
/* A walker waits here from now on; entry->memory is copied into the arena. */
int rgi_board_put(rg_balancer b, const rgi_entry *entry);
/* Takes waiting walker number `at`; entry->memory is the caller's then. */
int rgi_board_take(rg_balancer b, int at, rgi_entry *entry);
/* The table for the policy, with this group asking; *t points into b. */
int rgi_board_table(rg_balancer b, rg_load_table *t);

/* The first walker that waits. */
static inline rgi_entry *rgi_board_entries(const rgi_board *board) {
  return board->entries ? (rgi_entry *)rgi_arena_at(board->entries) + board->first : NULL;
}

#endif
