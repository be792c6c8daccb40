/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Sums while they are added up: integers modulo 2^64, everything else in doubles. */
#ifndef RGI_TOTAL_H
#define RGI_TOTAL_H

#include "object/array.h"

typedef struct {
  uint64_t integer;
  double real, imaginary;
} rgi_total;

/* Collective: adds all members' totals. Stores a total as the caller of the public function gets
 * it: an int64_t for integers, else an element of the type. */
int rgi_total_all(rg_array a, rgi_total *total);
void rgi_total_store(rg_array_type type, const rgi_total *total, void *to);

#endif
