/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#ifndef REPORTED_CASES_H
#define REPORTED_CASES_H

#include <stddef.h>

void reported_start(void);
void reported_map(void);
void reported_create(void);
void reported_print(void);
void reported_files(void);
void reported_tasks(void);
void reported_copy(void);
void reported_regroup(void);
void reported_finalize(void);

/* clang-format off */
#define REPORTED_CASES                                                                             \
  {"start", reported_start}, {"map", reported_map}, {"create", reported_create},                   \
  {"print", reported_print}, {"files", reported_files}, {"tasks", reported_tasks},                 \
  {"copy", reported_copy}, {"regroup", reported_regroup}, {"finalize", reported_finalize}
/* clang-format on */

#endif
