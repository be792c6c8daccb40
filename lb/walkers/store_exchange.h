/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the nodes exchange after a death, and for rg_balance_gather: a short table of all walkers,
 * and then only those records that a node needs. The leaders of the nodes, the lowest ranks there,
 * call; no group may work meanwhile. Nodes are numbered from 0 on in the order of their leaders. */
#ifndef RGI_WALKERS_STORE_EXCHANGE_H
#define RGI_WALKERS_STORE_EXCHANGE_H

#include "walkers/queue.h"
#include "walkers/store_index.h"
#include "walkers/store_table.h"

/* Bytes that have come from other nodes. */
typedef struct {
  int64_t tables, records;
} rgi_store_exchange_traffic;

typedef struct {
  rgi_store_index *index;
  rgi_store_exchange_traffic *traffic;
  rg_group group; /* the leaders */
  int nodes, mine;
  int *ranks;       /* of the leaders */
  int *buddies;     /* of each node: another one, which gets a copy of what only one domain has */
  uint64_t *domain; /* of each node: its failure domain; or numbers, if all are in one */
  rgi_store_table table;
  struct {
    int64_t count, room;
    uint64_t *key;
    int32_t *from; /* nodes */
  } wanted;
} rgi_store_exchange;

int rgi_store_exchange_open(rgi_store_exchange *x, rgi_store_index *index,
                            rgi_store_exchange_traffic *traffic);
void rgi_store_exchange_close(rgi_store_exchange *x);

/* Makes the table, gives up versions that cannot be taken up, and removes records that do not count
 * from this node's store. Then the store has a record of each walker that is to be worked on. Cost:
 * each node receives the table about twice. */
int rgi_store_exchange_agree(rgi_store_exchange *x);
/* Then: walker i of the list begins on node homes[i], which gets its newest version; and of each
 * version that is in one failure domain only, another domain gets a copy. */
int rgi_store_exchange_move(rgi_store_exchange *x, const rgi_queue *list, const int homes[]);
/* Brings all outcomes to a node, -1: to each, and notes in each store how many no node has. */
int rgi_store_exchange_gather(rgi_store_exchange *x, int node);

#endif
