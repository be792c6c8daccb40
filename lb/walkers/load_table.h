/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table that a policy gets, in asynchronous balancing. */
#ifndef RGI_WALKERS_LOAD_TABLE_H
#define RGI_WALKERS_LOAD_TABLE_H

#include <regroup/balance.h>

/* With this group asking; *t points into b. With the lock of the load board held. */
int rgi_load_table_make(rg_balancer b, rg_load_table *t);

#endif
