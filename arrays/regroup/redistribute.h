/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving an array's elements from one group's distribution to another's. */
#ifndef RGI_REDISTRIBUTE_H
#define RGI_REDISTRIBUTE_H

#include "regroup/side.h"

/* a: NULL where the caller is not in the old group; b: likewise the new one. me: the
 * caller's rank in both. Every member of both; all elements are in place when all
 * have returned. */
int rgi_redistribute(rg_group both, int me, const rgi_side *from, rg_array a, const rgi_side *to,
                     rg_array b);

#endif
