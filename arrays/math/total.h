/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Sums on the way: integers modulo 2^64, everything else in doubles. */
#ifndef RGI_TOTAL_H
#define RGI_TOTAL_H

#include "object/array.h"

typedef struct {
  uint64_t integer;
  double real, imaginary;
} rgi_total;

/* The sum of all members' totals, for all; and its form for the user: an int64_t for
 * integers, else an element of the type. */
int rgi_total_all(rg_array a, rgi_total *t);
void rgi_total_store(rg_type type, const rgi_total *t, void *to);

#endif
