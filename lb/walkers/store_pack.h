/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers' records on their way between nodes, packed one after another. */
#ifndef RGI_WALKERS_STORE_PACK_H
#define RGI_WALKERS_STORE_PACK_H

#include <regroup/balance.h>

#include "walkers/queue.h"

typedef struct {
  char *memory;
  size_t bytes, room;
} rgi_store_pack;

/* Adds a copy of a record. */
int rgi_store_pack_add(rgi_store_pack *p, uint64_t offset);
void rgi_store_pack_free(rgi_store_pack *p);
/* Takes packed records in: the last one's place. */
int rgi_store_pack_take(rg_balancer b, const void *packed, size_t bytes, uint64_t *record);
/* While nobody works: every node's store has what any has. The leaders of the nodes call. */
int rgi_store_pack_exchange(rg_balancer b);

/* A walker that waits goes to another node, with its record packed as its memory; and has come
 * from one. Nothing where there is no store. */
int rgi_store_pack_attach(rg_balancer b, rgi_queue_entry *e);
int rgi_store_pack_detach(rg_balancer b, rgi_queue_entry *e);

#endif
