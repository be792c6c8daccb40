/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Finding a walker's record in the store by its key: a table of this process's, which follows
 * the node's list. */
#ifndef RGI_WALKERS_STORE_INDEX_H
#define RGI_WALKERS_STORE_INDEX_H

#include <regroup/balance.h>

/* Records by their keys. */
typedef struct {
  struct {
    uint64_t key, offset;
  } * at;
  size_t room, count;
  uint64_t head; /* of the node's list, as far as it was read */
} rgi_store_index;

/* The record of a key, or 0. */
int rgi_store_index_find(rg_balancer b, uint64_t key, uint64_t *offset);
/* What was found is forgotten. */
void rgi_store_index_clear(rg_balancer b);
/* While nobody works, by one process of each node: walkers whose parent does not know of them
 * are none. */
int rgi_store_index_sweep(rg_balancer b);

#endif
