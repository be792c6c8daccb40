/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table that an application gives. */
#ifndef RGI_LOAD_TABLE_H
#define RGI_LOAD_TABLE_H

#include <regroup/policy.h>

/* RG_ERR_ARG unless the table has the rows and the walkers that it counts. */
int rgi_load_table_check(const char *call, const rg_load_table *table);

#endif
