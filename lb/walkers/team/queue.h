/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers without a group: they wait for one, or a unit has just made them. */
#ifndef RGI_TEAM_QUEUE_H
#define RGI_TEAM_QUEUE_H

#include <regroup/policy.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  int64_t id, least, most;
  double left, unit;
  int64_t order;   /* of walkers that are as long: the smaller number comes first */
  int64_t moved;   /* moves to another node so far */
  uint64_t state;  /* a block of the node's arena (on the load board), or 0 */
  uint64_t record; /* its place in the walker store, or 0; if not 0, state and memory are unused */
  void *memory;    /* or its state in memory of this process, or NULL */
  size_t bytes;    /* of either */
  int ended;       /* not a walker but an outcome that a unit has added */
  int64_t done;    /* of a walker that has met others: its units, */
  int64_t met;     /* the number of its last meeting + 1, */
  int64_t between; /* how many it did since the meeting before that one; 0: not known, */
  double spent;    /* the seconds that groups have worked on it, */
  double busy;     /* the processors that each of its processes would use, 0: not known, */
  rg_pace pace;    /* and what was measured before it */
} rgi_queue_entry;

typedef struct {
  rgi_queue_entry *at;
  int count;
  int64_t room;
  int64_t order; /* of the next one that rgi_queue_insert adds */
} rgi_queue;

int rgi_queue_add(rgi_queue *queue, const rgi_queue_entry *entry); /* at the end */
/* Sorts all behind the first `fixed` ones: the longest first, of equal ones as they were added. */
void rgi_queue_sort(rgi_queue *queue, int fixed);
void rgi_queue_free(rgi_queue *queue);

/* Of walkers that wait a policy gets the longest ones, at most RGI_QUEUE_SHOWN. */
enum { RGI_QUEUE_SHOWN = 64 };
/* A queue that rgi_queue_sort has sorted, or that is empty: its first RGI_QUEUE_SHOWN are in order.
 * O(RGI_QUEUE_SHOWN + log count). */
int rgi_queue_insert(rgi_queue *queue, const rgi_queue_entry *entry);
rgi_queue_entry rgi_queue_take(rgi_queue *queue, int at);
/* As rgi_queue_insert and rgi_queue_take in an array that has room: of the node's arena, for
 * instance. */
void rgi_queue_put_in(rgi_queue_entry at[], int *count, const rgi_queue_entry *entry);
rgi_queue_entry rgi_queue_take_out(rgi_queue_entry at[], int *count, int which);

/* Fills the rows that a policy gets. */
void rgi_queue_show(const rgi_queue_entry *at, int count, rg_waiting_walker waiting[]);

#endif
