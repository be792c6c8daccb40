/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Random specs of small arrays, by random(). */
#ifndef RGT_DRAW_SPEC_H
#define RGT_DRAW_SPEC_H

#include <regroup/array.h>

typedef struct {
  rg_array_spec spec;
  int64_t boundaries[RG_ARRAY_MAX_DIMS][64];
} rgt_drawn;

/* 0 to n - 1. */
int64_t rgt_below(int64_t n);

/* A shape of 1 to 7 dimensions and a type; now and then an extent is 0. */
void rgt_draw_shape(rgt_drawn *s);

/* Any layout, grid, chunks and ghosts for them, on so many members (at most 63). */
void rgt_draw_layout(rgt_drawn *s, int members);

#endif
