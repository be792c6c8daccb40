/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the leader of a walker's group writes into the walker store. */
#ifndef RGI_WALKERS_STORE_WRITE_H
#define RGI_WALKERS_STORE_WRITE_H

#include <regroup/balance.h>

#include "walkers/queue.h"

/* After a unit: the packed state, if has; and the walkers that the unit has made. */
int rgi_store_write_unit(rg_balancer b, const void *state, size_t bytes, int has);
/* A walker has ended: the one that the group works on, with the walkers that it has made, or one
 * that waited. */
int rgi_store_write_outcome(rg_balancer b, const rgi_queue_entry *entry,
                            const rg_balance_outcome *o);

#endif
