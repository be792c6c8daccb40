/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving the elements of one patch to another. */
#ifndef RGI_COPY_OWN_H
#define RGI_COPY_OWN_H

#include "math/operand.h"

/* The caller's part of `mine` is got from (pull), or put to, the patch that it goes
 * with in `other`: equally many elements in C order, or the transposed patch. */
int rgi_copy_own(const rgi_operand *mine, const rgi_operand *other, int pull, int transposed);

#endif
