/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What policies ask of the rows of a load table. */
#ifndef RGI_POLICIES_LOAD_H
#define RGI_POLICIES_LOAD_H

#include <regroup/policy.h>

/* Whether a row gives its processes away in this call: it is idle, and it is the row that asks or
 * the call is for all rows. */
int rgi_load_gives(const rg_load_table *table, int64_t row);

/* Whether a row can take processes, with work to do. */
int rgi_load_takes(const rg_load *load);

/* Seconds until the row's work ends with so many processes. */
double rgi_load_seconds(const rg_load *load, int64_t ranks);

/* Lets the idle rows that give start the waiting walkers, the longest first, one each. A walker
 * that needs more processes than any of these rows has is left waiting. used: NULL, or one byte for
 * each row, set where the row has got a walker. */
int rgi_load_start_waiting(const rg_load_table *table, rg_plan *plan, char used[]);

#endif
