/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the nodes exchange after a death, and for rg_balance_gather: a short table of all walkers,
 * and then only those records that a node needs. The leaders of the nodes, the lowest ranks there,
 * call; no group may work meanwhile. Nodes are numbered from 0 on in the order of their leaders. */
#ifndef RGI_STORE_RECORD_EXCHANGE_H
#define RGI_STORE_RECORD_EXCHANGE_H

#include "walkers/store/record_index.h"
#include "walkers/store/record_table.h"
#include "walkers/team/queue.h"

/* Bytes that have come from other nodes. */
typedef struct {
  int64_t tables, records;
} rgi_record_exchange_traffic;

/* A walker's version that this node is to get, and the node that has it. */
typedef struct {
  uint64_t key;
  int32_t from;
} rgi_record_exchange_wanted;

typedef struct {
  rgi_record_index *index;
  rgi_record_exchange_traffic *traffic;
  rg_group group; /* the leaders */
  int nodes, mine;
  int *ranks;       /* of the leaders */
  int *buddies;     /* of each node: another one, which gets a copy of what only one domain has */
  uint64_t *domain; /* of each node: its failure domain; or numbers, if all are in one */
  rgi_record_table table;
  struct {
    int64_t count, room;
    rgi_record_exchange_wanted *at;
  } wanted;
} rgi_record_exchange;

int rgi_record_exchange_open(rgi_record_exchange *exchange, rgi_record_index *index,
                             rgi_record_exchange_traffic *traffic);
void rgi_record_exchange_close(rgi_record_exchange *exchange);

/* Makes the table, gives up versions that cannot be taken up, and removes records that do not count
 * from this node's store. Then the store has a record of each walker that is to be worked on. Cost:
 * each node receives the table about twice. */
int rgi_record_exchange_agree(rgi_record_exchange *exchange);
/* Then: walker i of the list begins on node homes[i], which gets its newest version; and of each
 * version that is in one failure domain only, another domain gets a copy. */
int rgi_record_exchange_move(rgi_record_exchange *exchange, const rgi_queue *list,
                             const int homes[]);
/* Brings all outcomes to a node, -1: to each, and notes in each store how many no node has. */
int rgi_record_exchange_gather(rgi_record_exchange *exchange, int node);

#endif
