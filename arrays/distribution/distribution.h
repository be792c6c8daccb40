/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Who owns which elements, and where they lie in their owner's memory. Pure: no
 * communication, no arrays' memory.
 *
 * A member's memory holds its blocks one after another, in order of their numbers;
 * a block is a dense C array of its extents, with the ghost cells around it. */
#ifndef RGI_DISTRIBUTION_H
#define RGI_DISTRIBUTION_H

#include <regroup/array.h>

typedef struct {
  int dims;
  rg_layout layout;
  int members; /* of the group */
  int owners;  /* product of grid: ranks from here on own nothing */
  int64_t shape[RG_MAX_DIMS], ghosts[RG_MAX_DIMS], chunk[RG_MAX_DIMS];
  int grid[RG_MAX_DIMS], periodic[RG_MAX_DIMS];
  int64_t *boundaries[RG_MAX_DIMS]; /* grid[d] + 1 each; NULL for RG_BLOCK_CYCLIC */
  /* Worked out ahead (span.h), so that nothing divides later. */
  uint64_t reciprocal[RG_MAX_DIMS], grid_reciprocal[RG_MAX_DIMS];
  int64_t blocks[RG_MAX_DIMS]; /* along each dimension */
  int gaps;                    /* some blocks are empty */
} rgi_distribution;

/* Checks the spec and works out the distribution over so many members; free it
 * with rgi_distribution_clear (fine for one that is all zero). Errors: RG_ERR_ARG,
 * RG_ERR_LIMIT (bytes of the whole, ghosts included, exceed 63 bits),
 * RG_ERR_NOMEM. */
int rgi_distribution_make(const rg_array_spec *spec, int members, rgi_distribution *d);
void rgi_distribution_clear(rgi_distribution *d);

/* Whether both place every element alike: same shape, grid, blocks and ghosts. */
int rgi_distribution_same(const rgi_distribution *a, const rgi_distribution *b);

/* Fills in grid[d] where it is 0, with at most most[d] and the product at most
 * members. Blocks are nearly as small as can be (the largest within a tenth of the
 * best), and of those as near to cubes as can be; where that leaves a choice, the
 * earlier dimension is divided. */
void rgi_distribution_grid(int dims, const int64_t shape[], const int64_t most[], int64_t members,
                           int grid[]);

/* Bytes of an element of this type (RG_OPAQUE: element_size); 0: no such type. */
size_t rgi_type_size(rg_type type, size_t element_size);

int rgi_distribution_owner(const rgi_distribution *d, const int64_t at[]);

/* Blocks of a member and which patch they are. */
int64_t rgi_distribution_blocks(const rgi_distribution *d, int rank);
void rgi_distribution_block(const rgi_distribution *d, int rank, int64_t i, int64_t lo[],
                            int64_t hi[]);

/* Elements of a member's memory, ghosts included; 0 if its block is empty. */
int64_t rgi_distribution_extent(const rgi_distribution *d, int rank);

/* A part of a patch inside one block, and where it is: offset of its first element
 * from the start of the owner's memory, and the extents of the memory it lies in
 * (dims - 1), both in elements. */
typedef struct {
  int rank;
  int64_t lo[RG_MAX_DIMS], hi[RG_MAX_DIMS];
  int64_t offset, ld[RG_MAX_DIMS];
} rgi_piece;

/* The pieces of a patch, none of them empty, in C order of blocks; an empty patch
 * has none. The patch is inside the array. */
typedef struct {
  const rgi_distribution *d;
  int64_t lo[RG_MAX_DIMS], hi[RG_MAX_DIMS];
  int64_t first[RG_MAX_DIMS], last[RG_MAX_DIMS], next[RG_MAX_DIMS]; /* block coordinates */
  int more;
} rgi_pieces;
void rgi_pieces_start(rgi_pieces *it, const rgi_distribution *d, const int64_t lo[],
                      const int64_t hi[]);
int rgi_pieces_next(rgi_pieces *it, rgi_piece *piece);

/* How many, and the i-th, without the others. */
int64_t rgi_pieces_count(const rgi_distribution *d, const int64_t lo[], const int64_t hi[]);
void rgi_pieces_get(const rgi_distribution *d, const int64_t lo[], const int64_t hi[], int64_t i,
                    rgi_piece *piece);

/* Where one element is: its owner and its offset there. The short way of put and
 * get of single elements. */
int rgi_distribution_find(const rgi_distribution *d, const int64_t at[], int64_t *offset);

/* RG_ERR_BOUNDS with a text that names dimension, index and bound, or RG_ERR_ARG
 * (lo above hi), unless lo..hi is inside the array. call: the public function. */
int rgi_distribution_inside(const rgi_distribution *d, const char *call, const int64_t lo[],
                            const int64_t hi[]);

/* The same for one element. */
int rgi_distribution_has(const rgi_distribution *d, const char *call, const int64_t at[]);

#endif
