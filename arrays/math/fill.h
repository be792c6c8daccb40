/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The caller's part of some whole functions, for others: no synchronisation. */
#ifndef RGI_FILL_H
#define RGI_FILL_H

#include "math/operand.h"

int rgi_fill_own(const rgi_operand *o, const void *value);

#endif
