/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Where the bytes of an element with gaps lie, as runs of bytes in the order in which a transfer
 * moves them; and moving bytes between two memories of such elements, piece by piece. */
#ifndef RGI_LAYOUT_H
#define RGI_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "access/strided.h"

/* n runs of so many bytes each, the first one at offset, each `stride` behind the one before it. */
typedef struct {
  int64_t offset, bytes, n, stride;
} rgi_layout_run;

typedef struct {
  int64_t size, extent; /* bytes of an element; from one element to the next */
  int64_t low, high;    /* its first byte, and behind its last one */
  size_t runs;
  int64_t room;
  rgi_layout_run *run;
} rgi_layout;

/* Adds a run to the end; joins it with what is there where they are next to one another or evenly
 * spaced. 0: no memory. */
int rgi_layout_add(rgi_layout *layout, int64_t offset, int64_t bytes);

/* Adds evenly spaced runs, as one after the other would be added. 0: no memory. */
int rgi_layout_add_runs(rgi_layout *layout, const rgi_layout_run *runs);

/* Adds all runs of another layout at an offset. 0: no memory. */
int rgi_layout_add_all(rgi_layout *layout, const rgi_layout *part, int64_t offset);

void rgi_layout_free(rgi_layout *layout);

/* A place in the bytes of a number of elements. */
typedef struct {
  char *memory;
  const rgi_layout_run *run; /* of the element at hand */
  size_t runs, at;
  int64_t left;   /* elements after this one */
  int64_t extent; /* from one element to the next */
  int64_t k, in;  /* which of the evenly spaced runs, and how far in it */
  rgi_layout_run one;
} rgi_layout_cursor;

/* The beginning of count > 0 elements in memory; of a run of bytes. */
void rgi_layout_begin(rgi_layout_cursor *cursor, const rgi_layout *layout, void *memory,
                      int64_t count);
void rgi_layout_begin_flat(rgi_layout_cursor *cursor, void *memory, int64_t bytes);

/* What is done with a piece. */
typedef void rgi_layout_move(const rgi_strided *piece, void *target, void *origin, const void *how);

/* Moves the next so many bytes, which are there on both sides, from cursor to cursor. */
void rgi_layout_walk(rgi_layout_cursor *target, rgi_layout_cursor *origin, int64_t bytes,
                     rgi_layout_move *move, const void *how);

#endif
