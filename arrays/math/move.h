/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving the elements of one patch to another. */
#ifndef RGI_MATH_MOVE_H
#define RGI_MATH_MOVE_H

#include "math/operand.h"

/* The caller's part of `mine` is got from (pull), or put to, the patch that it goes
 * with in `other`: equally many elements in C order, or the transposed patch. */
int rgi_move_mine(const rgi_operand *mine, const rgi_operand *other, int pull, int transposed);

#endif
