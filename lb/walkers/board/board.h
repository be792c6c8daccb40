/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The load board of a node, in its arena: a row for each group there, and the walkers that wait.
 * All of it is read and changed under its lock. */
#ifndef RGI_BOARD_BOARD_H
#define RGI_BOARD_BOARD_H

#include <regroup/policy.h>

#include "access/lock.h"
#include "shm/arena.h"
#include "walkers/team/meeting_list.h"
#include "walkers/team/membership.h"
#include "walkers/team/queue.h"

typedef struct {
  int64_t stamp;  /* of the group's walker */
  int32_t leads;  /* the process is the leader of a group */
  int32_t lowest; /* lowest rank in it */
  int64_t seen;   /* the version that the leader, being idle, had no answer to; -1: it has not
                     looked since the last change, or has something to do */
  int64_t walker; /* the id of the group's walker */
  rg_load load;
} rgi_board_row;

/* In the arena. */
typedef struct {
  rgi_lock lock;
  _Atomic int64_t version;  /* counts changes that matter to a leader that waits; may be read
                               without the lock */
  int64_t open;             /* walkers of this node that have not ended */
  int64_t credit;           /* the node's share of the credit is 2^-credit */
  int64_t units;            /* done by groups led here */
  int64_t leaving;          /* processes that groups led here are about to release */
  int32_t returned;         /* the credit has been given back */
  int32_t ended;            /* all walkers of all nodes have ended */
  _Atomic int32_t stopping; /* the run ends early; read without the lock */
  int32_t count, room;      /* entries that wait */
  int64_t order;            /* of the next one */
  uint64_t entries;         /* their block */
  uint64_t aside;           /* walkers that are set aside (rgi_board_aside) */
  _Atomic int64_t complete; /* meetings that can take place; read without the lock */
  double merge;             /* mean seconds of a merge */
  int32_t processes;
  rgi_board_row row[]; /* of each process of the balancer on this node, in the order of ranks */
} rgi_board_shared;

/* What a process has of it. */
typedef struct {
  const rgi_membership *members;
  rgi_board_shared *shared; /* NULL: none */
  uint64_t slot;
  int *place_of; /* row of each rank, or -1 */
  int locked;    /* this process has the lock */
  int *woken;    /* places of leaders to be woken when it gives the lock back */
  int woken_count;
  int64_t stamp; /* counts this process's walkers as a leader */
} rgi_board;

/* Attaches to the node's load board. Collective over the balancer's processes on the node. */
int rgi_board_open(rgi_board *board);
void rgi_board_close(rgi_board *board);
/* Detaches after a death: a dead process may hold the lock, so what is there is not read. */
void rgi_board_forget(rgi_board *board);

int rgi_board_lock(rgi_board *board);
void rgi_board_unlock(rgi_board *board);

/* --- with the lock held -------------------------------------------------------------- */

/* The row of a rank, or NULL if it is on another node. */
rgi_board_row *rgi_board_row_of(const rgi_board *board, int rank);
/* The leaders that wait for changes are woken when the lock is given back. */
void rgi_board_changed(rgi_board *board);
/* Adds a walker that waits; entry->memory is copied into the arena. */
int rgi_board_put(rgi_board *board, const rgi_queue_entry *entry);
/* Removes waiting walker number `at`; entry->memory belongs to the caller. */
int rgi_board_take(rgi_board *board, int at, rgi_queue_entry *entry);
/* Adds the walkers that a unit has made, and empties their list. Without the lock. */
int rgi_board_add_born(rgi_board *board, rgi_queue *born);

/* The walkers that are set aside. */
static inline rgi_meeting_list rgi_board_aside(const rgi_board *board) {
  return (rgi_meeting_list){&board->shared->aside, 1};
}
/* Sets a walker aside. While its meeting is incomplete it is not one of the open walkers: it cannot
 * go on by itself. */
int rgi_board_set_aside(rgi_board *board, const rgi_queue_entry *entry, const rgi_meeting *meeting);
/* Takes the walkers of a meeting that can take place (rgi_meeting_list_take). */
int rgi_board_take_meeting(rgi_board *board, int64_t *count, rgi_queue_entry **entries,
                           int64_t *number);

/* The first walker that waits. */
static inline rgi_queue_entry *rgi_board_waiting(const rgi_board *board) {
  uint64_t entries = board->shared->entries;
  return entries ? (rgi_queue_entry *)rgi_arena_at(entries) : NULL;
}

#endif
