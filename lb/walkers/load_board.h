/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The load board of a node, in its arena: a row for each group there, and the walkers that wait.
 * All of it is read and changed under its lock. */
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
  _Atomic int32_t waits; /* the process waits for changes */
  rg_load load;
} rgi_load_board_row;

typedef struct rgi_load_board {
  rgi_bell lock;
  int64_t version;            /* counts changes that matter to a leader that waits */
  int64_t open;               /* walkers of this node that have not ended */
  int64_t credit;             /* the node's share of the credit is 2^-credit */
  int64_t units;              /* done by groups led here */
  int32_t returned;           /* the credit has been given back */
  int32_t ended;              /* all walkers of all nodes have ended */
  int32_t count, first, room; /* entries that wait */
  uint64_t entries;           /* their block */
  double merge;               /* mean seconds of a merge */
  int32_t processes;
  rgi_load_board_row
      row[]; /* of each process of the balancer on this node, in the order of ranks */
} rgi_load_board;

/* Attaches to the node's load board. Collective over the balancer's processes on the node. */
int rgi_load_board_open(rg_balancer b);
void rgi_load_board_close(rg_balancer b);
/* Detaches after a death: a dead process may hold the lock, so what is there is not read. */
void rgi_load_board_forget(rg_balancer b);

int rgi_load_board_lock(rg_balancer b);
void rgi_load_board_unlock(rg_balancer b);

/* --- with the lock held -------------------------------------------------------------- */

/* The row of a rank, or NULL if it is on another node. */
rgi_load_board_row *rgi_load_board_row_of(rg_balancer b, int rank);
/* Wakes the leaders that wait for changes. */
void rgi_load_board_changed(rg_balancer b);
/* Adds a walker that waits; entry->memory is copied into the arena. */
int rgi_load_board_put(rg_balancer b, const rgi_queue_entry *entry);
/* Removes waiting walker number `at`; entry->memory belongs to the caller. */
int rgi_load_board_take(rg_balancer b, int at, rgi_queue_entry *entry);
/* Adds the walkers that this unit has made. Without the lock. */
int rgi_load_board_add_born(rg_balancer b);

/* The first walker that waits. */
static inline rgi_queue_entry *rgi_load_board_waiting(const rgi_load_board *board) {
  return board->entries ? (rgi_queue_entry *)rgi_arena_at(board->entries) + board->first : NULL;
}

#endif
