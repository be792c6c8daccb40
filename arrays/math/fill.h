/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Filling the caller's part of a patch, for other operations: no synchronisation. */
#ifndef RGI_FILL_H
#define RGI_FILL_H

#include "math/operand.h"

int rgi_fill_own(const rgi_operand *operand, const void *value);

#endif
