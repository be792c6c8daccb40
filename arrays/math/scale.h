/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Multiplying the caller's part of a patch, for other operations: no synchronisation. */
#ifndef RGI_SCALE_H
#define RGI_SCALE_H

#include "math/operand.h"

/* As BLAS has it: 0 (all bits) makes zeros of NaNs too. */
int rgi_scale_own(const rgi_operand *operand, const void *factor);

#endif
