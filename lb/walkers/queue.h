/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers that have no group: those that wait for one, and those that a unit has made. */
#ifndef RGI_WALKERS_QUEUE_H
#define RGI_WALKERS_QUEUE_H

#include <regroup/policy.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  int64_t id, least, most;
  double left, unit;
  int64_t moved;   /* how often it has gone to another node */
  uint64_t state;  /* a block of the node's arena (on the load board), or 0 */
  uint64_t record; /* its place in the walker store, or 0: then state and memory are not used */
  void *memory;    /* or memory of this process */
  size_t bytes;    /* of either */
  int ended;       /* it is an outcome */
} rgi_queue_entry;

typedef struct {
  rgi_queue_entry *at;
  int count, room;
} rgi_queue;

int rgi_queue_add(rgi_queue *q, const rgi_queue_entry *entry);    /* at the end */
int rgi_queue_insert(rgi_queue *q, const rgi_queue_entry *entry); /* the longest first */
rgi_queue_entry rgi_queue_take(rgi_queue *q, int at);
void rgi_queue_free(rgi_queue *q);

/* At most so many of them as a policy sees them. */
enum { RGI_QUEUE_SHOWN = 64 };
void rgi_queue_show(const rgi_queue_entry *at, int count, rg_waiting waiting[]);

#endif
