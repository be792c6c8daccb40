/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Accesses to a target's part of the array heap, as the engine and its transports take them. */
#ifndef RGI_TRANSFER_H
#define RGI_TRANSFER_H

#include "access/access_kind.h"
#include "access/strided.h"

/* A get, put or accumulate of a patch, or of several runs of bytes. */
typedef struct {
  rgi_access_kind kind;
  int target;      /* a world rank */
  uint64_t offset; /* in the target's heap part */
  char *origin;    /* read only but for gets */
  rg_array_type type;
  const void *alpha;           /* of accumulates; NULL: 1 */
  rgi_strided patch;           /* from origin and offset on; or: */
  const rgi_strided_run *runs; /* n of them, relative to origin and offset; NULL: the patch */
  int n;
  int may_block; /* the caller waits at once */
  /* Set by the engine: */
  int flat;       /* the bytes are contiguous at the origin */
  int64_t bytes;  /* all of them */
  uint64_t reach; /* how far they reach at the target, from offset on */
} rgi_transfer;

/* n elements of `element` bytes each at offsets[i] and origin[i]. */
typedef struct {
  rgi_access_kind kind;
  int target;
  int64_t n;
  const uint64_t *offsets;
  void *const *origin;
  size_t element;
  rg_array_type type;
  const void *alpha;
} rgi_transfer_elements;

/* A fetch-and-add (of a) or compare-and-swap (to b if it is a) of one integer. */
typedef struct {
  rgi_access_kind kind;
  int target;
  uint64_t offset;
  rg_array_type type; /* RG_TYPE_INT32, RG_TYPE_INT64 */
  int64_t a, b;
} rgi_transfer_word;

/* The public functions by kind, for the texts of errors. */
extern const char *const rgi_transfer_calls[];

/* For runs: what the engine sets. */
void rgi_transfer_measure_runs(rgi_transfer *transfer);

/* Copies the origin side into packed memory (in = 1) or out of it. */
void rgi_transfer_pack(const rgi_transfer *transfer, char *packed, int in);

/* The origin side, packed and times alpha. */
void rgi_transfer_pack_scaled(const rgi_transfer *transfer, char *to);

#endif
