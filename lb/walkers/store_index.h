/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Finds a walker's record in the store by its key. */
#ifndef RGI_WALKERS_STORE_INDEX_H
#define RGI_WALKERS_STORE_INDEX_H

#include <regroup/balance.h>

/* *offset: the record of a key, or 0. */
int rgi_store_index_find(rg_balancer b, uint64_t key, uint64_t *offset);
/* Empties the table; it is filled again when needed. */
void rgi_store_index_clear(rg_balancer b);
/* Takes the key from records that do not count: their parent's version has not counted them. One
 * process of each node calls; no group may work meanwhile. */
int rgi_store_index_sweep(rg_balancer b);

#endif
