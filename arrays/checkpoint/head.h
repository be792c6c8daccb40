/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A checkpoint's file: a head, padded to pages, and a segment for each member that wrote
 * it, each from a page on. The head is written last: a file without one is none.
 *
 * The head, in the writer's order of bytes, is
 *   the fixed part | words that describe the arrays | the program's state, padded to 8 |
 *   a rgi_head_segment for each member | a checksum of all of this
 * and a segment the member's blocks, array by array, each block dense and without
 * ghosts, each array from a multiple of 64 bytes on. */
#ifndef RGI_HEAD_H
#define RGI_HEAD_H

#include <regroup/array.h>

#include "distribution/distribution.h"

typedef struct {
  uint64_t offset, bytes, checksum;
} rgi_head_segment;

typedef struct {
  char magic[8];
  uint32_t version, order; /* order of bytes: 1 */
  uint64_t sequence;       /* generations count up */
  uint64_t head_bytes, file_bytes, state_bytes, words;
  int32_t members, arrays;
} rgi_head_fixed;

/* One of the arrays, as it was. */
typedef struct {
  rg_type type;
  size_t element;
  rgi_distribution d;
} rgi_head_array;

typedef struct {
  char *memory; /* the head, as it is in the file */
  rgi_head_fixed *fixed;
  int64_t *words;
  char *state;
  rgi_head_segment *segments;
  rgi_head_array *saved; /* worked out from the words */
} rgi_head;

enum { RGI_HEAD_GENERATIONS = 2 };

/* The head of a checkpoint that is to be written: all but the sequence, the state and
 * the segments' checksums. RG_ERR_NOMEM, RG_ERR_LIMIT. */
int rgi_head_make(int members, int n, const rg_array arrays[], size_t state_bytes, rgi_head *h);

/* The last thing before it is written. */
void rgi_head_seal(rgi_head *h);

/* From a file, by one process. *there is 0, and no error, if there is no file. RG_ERR_FILE:
 * it cannot be read, or is none or no whole one. */
int rgi_head_read(const char *path, int *there, rgi_head *h);

/* After memory, of head_bytes, was filled: the pointers and what was saved. */
int rgi_head_work_out(rgi_head *h);

void rgi_head_clear(rgi_head *h);

/* Elements of a member's i-th block, 0 if it is empty, and which patch it is. */
int64_t rgi_head_block(const rgi_distribution *d, int rank, int64_t i, int64_t lo[], int64_t hi[]);

/* Where an array's part of a segment ends that begins at `at`. */
uint64_t rgi_head_segment_end(uint64_t at, const rgi_distribution *d, size_t element, int rank);

/* Of bytes that come in order; from RGI_HEAD_HASH_START on. Of all pieces but the last the
 * length is a multiple of 8. */
#define RGI_HEAD_HASH_START 0x243f6a8885a308d3u
uint64_t rgi_head_hash(const void *bytes, size_t n, uint64_t hash);

#endif
