/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table that a policy gets, in asynchronous balancing. */
#ifndef RGI_WALKERS_LOAD_TABLE_H
#define RGI_WALKERS_LOAD_TABLE_H

#include "walkers/load_board.h"
#include "walkers/node_loads.h"
#include "walkers/planner.h"

/* The table with this process's group as the one that asks; *t points into the planner. With the
 * load board's lock held. */
int rgi_load_table_make(const rgi_load_board *b, const rgi_node_loads *others, rgi_planner *p,
                        rg_load_table *t);

#endif
