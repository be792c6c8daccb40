/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Divides processes among the active groups so that these end together. */
#ifndef RGI_POLICIES_DIVISION_H
#define RGI_POLICIES_DIVISION_H

#include <regroup/policy.h>

/* Adds moves that divide give[row] processes of each row among the rows that take some and have
 * give[row] 0 (-1: the row neither gives nor takes). Each process goes where it shortens the
 * longest time to go. A group that would gain less than `cost` seconds by all that it gets gets
 * none, unless others are on their way to it: then it is formed anew in any case. Processes that
 * help no group are in no move. In asynchronous balancing the target with the longest time comes
 * first; else rows are matched from left to right. O(rows + processes log rows). */
int rgi_division_plan(const rg_load_table *table, const int64_t give[], double cost, rg_plan *plan);

#endif
