/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One operation of the engine on the bytes of a target, as both of its transports take it: the
 * RMA window and the node daemons. */
#ifndef RGI_TRANSFER_H
#define RGI_TRANSFER_H

#include "engine/strided.h"

/* What an operation does to the bytes at its target. */
typedef enum { RGI_TRANSFER_GET, RGI_TRANSFER_PUT, RGI_TRANSFER_ACC } rgi_transfer_kind;

typedef struct {
  rgi_transfer_kind kind;
  int target;
  uint64_t offset; /* in the target's heap part */
  char *origin;
  rg_array_type type;
  const void *alpha;           /* NULL: 1 */
  rgi_strided patch;           /* from origin and offset on; or: */
  const rgi_strided_run *runs; /* n of them, relative to origin and offset; NULL: the patch */
  int n;
  int may_block; /* the caller waits at once, and without a time limit */
} rgi_transfer;

/* A transfer that has been started. Long ones are cut into several pieces. */
typedef struct rgi_transfer_piece {
  struct rgi_transfer_piece *next;
  struct rgi_daemon_transport_op *daemon_op; /* daemon_transport.h; or NULL and: */
  MPI_Request request;
  void *copy;    /* what is sent instead of the caller's buffer; or NULL */
  unsigned turn; /* for rgi_rma_left */
} rgi_transfer_piece;

/* Bytes of one piece; longer transfers are cut. The engine sets it for its transport. */
extern int64_t rgi_transfer_most;

/* The public functions by kind, for the texts of errors. */
extern const char *const rgi_transfer_calls[];

/* Copies the origin side into packed memory (in = 1) or out of it. */
void rgi_transfer_pack(const rgi_transfer *t, char *packed, int in);

/* The origin side, packed and times alpha. */
void rgi_transfer_pack_scaled(const rgi_transfer *t, char *to);

#endif
