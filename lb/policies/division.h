/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Dividing processes among the active groups so that these end together. */
#ifndef RGI_POLICIES_DIVISION_H
#define RGI_POLICIES_DIVISION_H

#include <regroup/policy.h>

/* Adds the moves that divide give[row] processes of each row among the rows that
 * take some and give none (give[row] 0; -1: none, but gets none either): each process goes where it
 * shortens the longest time to go, and a group that would gain less than `cost` seconds by all that
 * it gets is passed over (not if others are on their way to it: it is formed
 * anew in any case). Processes that help nobody are in no move. Asynchronously the target with
 * the longest time comes first; else rows are matched from left to right. O(rows + processes log
 * rows). */
int rgi_division_plan(const rg_load_table *table, const int64_t give[], double cost, rg_plan *plan);

#endif
