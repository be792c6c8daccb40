/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A patch cut by the blocks that it crosses. */
#ifndef RGI_PIECE_H
#define RGI_PIECE_H

#include "distribution/distribution.h"

/* A part of a patch inside one block, and where it is: offset of its first element
 * from the start of the owner's memory, and the extents of the memory it lies in
 * (dims - 1), both in elements. */
typedef struct {
  int rank;
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  int64_t offset, ld[RG_ARRAY_MAX_DIMS];
} rgi_piece;

/* Whether the patch, which may be any, is inside the array, not empty, and in one block; then its
 * only piece. Much faster than the functions below. 0 for cyclic layouts, too. */
int rgi_piece_within(const rgi_distribution *layout, const int64_t lo[], const int64_t hi[],
                     rgi_piece *piece);

/* The pieces of a patch, none of them empty, in C order of blocks; an empty patch
 * has none. The patch is inside the array.
 *
 *   for (rgi_pieces_start(&it, d, lo, hi); rgi_pieces_next(&it, &piece);) */
typedef struct {
  const rgi_distribution *d;
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  int64_t first[RG_ARRAY_MAX_DIMS], last[RG_ARRAY_MAX_DIMS],
      next[RG_ARRAY_MAX_DIMS]; /* block coordinates */
  int more, own;               /* own: of one member only */
} rgi_pieces;
void rgi_pieces_start(rgi_pieces *it, const rgi_distribution *layout, const int64_t lo[],
                      const int64_t hi[]);
/* As rgi_pieces_start, for the pieces in the blocks of one member. */
void rgi_pieces_start_own(rgi_pieces *it, const rgi_distribution *layout, int rank,
                          const int64_t lo[], const int64_t hi[]);
int rgi_pieces_next(rgi_pieces *it, rgi_piece *piece);

/* How many pieces the patch has, and the i-th of them without the others. */
int64_t rgi_pieces_count(const rgi_distribution *layout, const int64_t lo[], const int64_t hi[]);
void rgi_pieces_get(const rgi_distribution *layout, const int64_t lo[], const int64_t hi[],
                    int64_t i, rgi_piece *piece);

/* The strides, in elements, of memory with dims dimensions whose extents but the first are ld. */
void rgi_piece_strides(int dims, const int64_t ld[], int64_t stride[]);

#endif
