/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The operations: their names and tables of algorithms. */
#ifndef RGI_OPERATION_H
#define RGI_OPERATION_H

#include <regroup/collectives.h>

#include "collectives/schedule/algorithm.h"

/* The tables, by operation. */
extern const rgi_algorithm *const rgi_operation_algorithms[RG_OP_COUNT];

/* As RG_COLL has them. */
extern const char *const rgi_operation_names[RG_OP_COUNT];

/* The rows of an operation's table. */
int rgi_operation_rows(rg_operation op);

/* RG_ERR_ARG when there is no such operation. */
int rgi_operation_check(const char *call, rg_operation op);

#endif
