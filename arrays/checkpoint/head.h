/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A checkpoint's file: a head, padded to pages, and a segment for each member that wrote it, each
 * aligned to pages. The head is written last: a file without one is not a checkpoint.
 *
 * The head, in the writer's order of bytes, is
 *   the fixed part | words that describe the arrays | the program's state, padded to 8 |
 *   a rgi_head_segment for each member | a checksum of all of this
 * and a segment is the member's blocks, array by array, each block dense and without
 * ghosts, each array aligned to 64 bytes. */
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
  int64_t arrays;
  int32_t members, unused;
} rgi_head_fixed;

/* One of the arrays, as it was saved. */
typedef struct {
  rg_array_type type;
  size_t element;
  rgi_distribution d;
} rgi_head_array;

typedef struct {
  char *memory; /* the head, as it is in the file */
  rgi_head_fixed *fixed;
  int64_t *words;
  char *state;
  rgi_head_segment *segments;
  rgi_head_array *saved; /* computed from the words */
} rgi_head;

enum { RGI_HEAD_GENERATIONS = 2 };

/* Makes the head of a new checkpoint: everything but the sequence, the state and the segments'
 * checksums. RG_ERR_NOMEM, RG_ERR_LIMIT. */
int rgi_head_make(int members, int64_t n, const rg_array arrays[], size_t state_bytes,
                  rgi_head *head);

/* Sets the head's checksum: to be called last, before it is written. */
void rgi_head_seal(rgi_head *head);

typedef enum {
  RGI_HEAD_ABSENT,    /* there is no file */
  RGI_HEAD_THERE,     /* there is one: a checkpoint, or not a complete one */
  RGI_HEAD_UNREADABLE /* the system did not let it be read */
} rgi_head_found;

/* Reads the head of a file. RGI_HEAD_ABSENT is no error. RG_ERR_FILE: it cannot be read, or is not
 * a complete checkpoint. */
int rgi_head_read(const char *path, rgi_head_found *found, rgi_head *head);

/* Reads all of these bytes of a file, by as many calls as the system needs. RG_ERR_FILE: the
 * file is shorter; RG_ERR_SYSTEM: the system did not let them be read. */
int rgi_head_read_bytes(int fd, const char *path, void *to, uint64_t bytes, uint64_t offset);

/* Sets the other members when memory holds a head of head_bytes. */
int rgi_head_work_out(rgi_head *head);

void rgi_head_clear(rgi_head *head);

/* Elements of a member's i-th block, 0 if it is empty, and which patch it is. */
int64_t rgi_head_block(const rgi_distribution *layout, int rank, int64_t i, int64_t lo[],
                       int64_t hi[]);

/* The end of an array's part of a segment that begins at `at`. */
uint64_t rgi_head_segment_end(uint64_t at, const rgi_distribution *layout, size_t element,
                              int rank);

/* A hash of bytes that are passed piece by piece in order, the first with RGI_HEAD_HASH_START. The
 * length of all pieces but the last is a multiple of 8. */
#define RGI_HEAD_HASH_START 0x243f6a8885a308d3u
uint64_t rgi_head_hash(const void *bytes, size_t n, uint64_t hash);

#endif
