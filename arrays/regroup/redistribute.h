/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving an array's elements from the distribution of one group to that of another. */
#ifndef RGI_REDISTRIBUTE_H
#define RGI_REDISTRIBUTE_H

#include "regroup/side.h"

/* For errors: their ranks are those of both. */
#define RGI_REDISTRIBUTE_WHERE "rg_array_regroup: in the group of both"

typedef struct {
  rg_group both;
  int me;                    /* the caller's rank in both */
  const rgi_side *from, *to; /* the old group and the new one */
  rg_array a, b;             /* the array of each; NULL if the caller is not in that group */
} rgi_redistribute_call;

/* Every member of both. All elements are in place when all members have returned. */
int rgi_redistribute(const rgi_redistribute_call *call);

#endif
