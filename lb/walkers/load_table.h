/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table that a policy gets, in asynchronous balancing. */
#ifndef RGI_WALKERS_LOAD_TABLE_H
#define RGI_WALKERS_LOAD_TABLE_H

#include <regroup/balance.h>

/* The table with this group as the one that asks; *t points into b. With the load board's lock
 * held. */
int rgi_load_table_make(rg_balancer b, rg_load_table *t);

#endif
