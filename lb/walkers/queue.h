/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers without a group: they wait for one, or a unit has just made them. */
#ifndef RGI_WALKERS_QUEUE_H
#define RGI_WALKERS_QUEUE_H

#include <regroup/policy.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  int64_t id, least, most;
  double left, unit;
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
  int count, room;
} rgi_queue;

int rgi_queue_add(rgi_queue *q, const rgi_queue_entry *entry);    /* at the end */
int rgi_queue_insert(rgi_queue *q, const rgi_queue_entry *entry); /* the longest first */
rgi_queue_entry rgi_queue_take(rgi_queue *q, int at);
void rgi_queue_free(rgi_queue *q);

/* Fills the rows that a policy gets of the walkers that wait; it gets at most RGI_QUEUE_SHOWN. */
enum { RGI_QUEUE_SHOWN = 64 };
void rgi_queue_show(const rgi_queue_entry *at, int count, rg_waiting_walker waiting[]);

#endif
