/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "policies/load_table.h"

#include "base/error.h"

int rgi_load_table_check(const char *call, const rg_load_table *table) {
  int absent = (table->count && !table->load) || (table->waiting_count && !table->waiting);
  return table->count >= 0 && table->waiting_count >= 0 && !absent
             ? RG_SUCCESS
             : rgi_error(RG_ERR_ARG, "%s: a table of %lld rows and %lld walkers, or none of it",
                         call, (long long)table->count, (long long)table->waiting_count);
}
