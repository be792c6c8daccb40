/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What share-out and release have in common. */
#ifndef RGI_POLICIES_FREE_RANKS_H
#define RGI_POLICIES_FREE_RANKS_H

#include <regroup/policy.h>

/* Adds the moves of share-out. cost: seconds of forming a group; negative: as the table says. An
 * active row gives back the processes without which its unit took at most (1 + gain) times as long,
 * as measured at a smaller size: with a negative gain only those without which it was faster. */
int rgi_free_ranks_plan(const rg_load_table *table, double cost, double gain, rg_plan *plan);

/* Adds moves that divide give[row] processes of each row among the rows that take some and have
 * give[row] 0 (-1: the row neither gives nor takes). Each process goes where it shortens the
 * longest time to go. A group that would gain less than `cost` seconds by all that it gets gets
 * none, unless others are on their way to it: then it is formed anew in any case. Processes that
 * help no group are in no move. In asynchronous balancing the target with the longest time comes
 * first; else rows are matched from left to right. O(rows + processes log rows). */
int rgi_free_ranks_divide(const rg_load_table *table, const int64_t give[], double cost,
                          rg_plan *plan);

#endif
