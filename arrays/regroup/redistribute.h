/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving an array's elements from the distribution of one group to that of another. */
#ifndef RGI_REDISTRIBUTE_H
#define RGI_REDISTRIBUTE_H

#include "regroup/side.h"

/* Every member of both. a: NULL if the caller is not in the old group; b: likewise for the new
 * one. me: the caller's rank in both. All elements are in place when all members have returned. */
int rgi_redistribute(rg_group both, int me, const rgi_side *from, rg_array a, const rgi_side *to,
                     rg_array b);

#endif
