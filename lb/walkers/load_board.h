/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The board of a node: in its arena, what the groups there tell of themselves, and the
 * walkers that wait. Everything on it is read and changed under its lock. */
#ifndef RGI_WALKERS_LOAD_BOARD_H
#define RGI_WALKERS_LOAD_BOARD_H

#include <regroup/balance.h>

#include "base/bell.h"
#include "shm/arena.h"
#include "walkers/queue.h"

typedef struct {
  int64_t stamp;         /* of the group's walker */
  int32_t leads;         /* the process is the leader of a group */
  int32_t lowest;        /* lowest rank in it */
  int64_t seen;          /* the version that the leader, being idle, had no answer to; or -1 */
  _Atomic int32_t waits; /* the process wants to be told of changes */
  rg_load load;
} rgi_load_board_row;

typedef struct rgi_load_board {
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
  rgi_load_board_row
      row[]; /* of each process of the balancer on this node, in the order of ranks */
} rgi_load_board;

/* Attaches to the node's board. Every process of the balancer. */
int rgi_load_board_open(rg_balancer b);
void rgi_load_board_close(rg_balancer b);
/* The same without a look at what is there: after a death. */
void rgi_load_board_forget(rg_balancer b);

int rgi_load_board_lock(rg_balancer b);
void rgi_load_board_unlock(rg_balancer b);

/* --- with the lock held -------------------------------------------------------------- */

/* The row of a rank, or NULL if it is on another node. */
rgi_load_board_row *rgi_load_board_row_of(rg_balancer b, int rank);
/* Something has changed that those who wait may want to know. */
void rgi_load_board_changed(rg_balancer b);
/* A walker waits here from now on; entry->memory is copied into the arena. */
int rgi_load_board_put(rg_balancer b, const rgi_queue_entry *entry);
/* Takes waiting walker number `at`; entry->memory is the caller's then. */
int rgi_load_board_take(rg_balancer b, int at, rgi_queue_entry *entry);
/* The walkers born in this unit wait here from now on. Without the lock. */
int rgi_load_board_add_born(rg_balancer b);

/* The first walker that waits. */
static inline rgi_queue_entry *rgi_load_board_waiting(const rgi_load_board *board) {
  return board->entries ? (rgi_queue_entry *)rgi_arena_at(board->entries) + board->first : NULL;
}

#endif
