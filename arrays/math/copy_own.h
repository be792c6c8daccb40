/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Copying the elements of one patch to another. */
#ifndef RGI_COPY_OWN_H
#define RGI_COPY_OWN_H

#include "math/operand.h"

/* Gets the caller's part of `mine` from `other` (pull), or puts it there. The two patches have
 * equally many elements, which correspond in C order, or one is the other transposed. */
int rgi_copy_own(const rgi_operand *mine, const rgi_operand *other, int pull, int transposed);

#endif
