/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walker store: in a job that survives deaths, what is known of each walker, in the node's
 * arena, which outlives its processes. A walker has two versions and a number that says
 * which of them holds: the leader of its group writes the other one after each unit, and
 * then changes the number. Whoever is killed while it writes leaves the version that holds
 * as it was. A version says how many walkers the units have made: one that was made is there
 * when, and only when, its parent's version knows of it.
 *
 * Each node has a store. A record goes from one to another as a packed copy (store_pack.c); of two
 * versions of a walker the one with more units counts. */
#ifndef RGI_WALKERS_STORE_H
#define RGI_WALKERS_STORE_H

#include "walkers/outcome.h"
#include "walkers/store_record.h"

struct rgi_store {
  int64_t count;
  _Atomic uint64_t born; /* those that were made, the last one first */
  rgi_store_record record[];
};

/* Finds the store of this node for the walkers of b->list, and names each one's place in it. */
int rgi_store_open(rg_balancer b);
/* By one process of each node: what b->list says. */
int rgi_store_fill(rg_balancer b);
void rgi_store_close(rg_balancer b);

/* Whether there is more than one node, so that copies are needed. */
int rgi_store_spans_nodes(const struct rg_balancer_s *b);
/* This process does for its node what one of each does. */
int rgi_store_leads_node(const struct rg_balancer_s *b);

/* While nobody works: b->list becomes the walkers that have not ended, in an order that is the
 * same on all nodes. */
int rgi_store_read(rg_balancer b);
/* A walker as it stands; *memory, if there is a state, is the caller's. */
int rgi_store_load(const rgi_queue_entry *entry, int64_t *done, double *left, int64_t *bytes,
                   void **memory);
/* The walkers that have ended: all; or those by this process, and if it is the first one, by the
 * dead. */
int rgi_store_outcomes(rg_balancer b, int all, rgi_outcomes *list);

/* The place of walker i of the list at first. */
uint64_t rgi_store_place(const struct rg_balancer_s *b, int64_t i);
/* Adds a record (a block of the arena, filled) to those that were made. */
void rgi_store_push(rg_balancer b, uint64_t offset);
/* All records of this node, one after another: from 0 on until 0. */
uint64_t rgi_store_next(rg_balancer b, uint64_t offset);

#endif
