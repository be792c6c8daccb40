/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One operation on the window. */
#ifndef RGI_TRANSFER_H
#define RGI_TRANSFER_H

#include "engine/rma.h"

typedef struct {
  rgi_engine_kind kind;
  int target;
  uint64_t offset;
  char *origin;
  rg_type type;
  const void *alpha;           /* NULL: 1 */
  rgi_strided patch;           /* from origin and offset on; or: */
  const rgi_strided_run *runs; /* n of them, relative to origin and offset; NULL: the patch */
  int n;
  int may_block; /* the caller waits at once, and for ever */
} rgi_transfer;

typedef struct rgi_transfer_piece {
  struct rgi_transfer_piece *next;
  struct rgi_daemon_transport_op *daemon_op; /* daemon_transport.h; or NULL and: */
  MPI_Request request;
  void *copy;    /* what is sent instead of the caller's buffer; or NULL */
  unsigned turn; /* for rgi_rma_left */
} rgi_transfer_piece;

/* What the kinds are called. */
extern const char *const rgi_transfer_calls[];

/* Starts it, all in one: so many bytes, at most rgi_rma.most. */
int rgi_rma_issue(const rgi_transfer *j, int64_t bytes, rgi_transfer_piece *p);

/* The origin side, packed and times alpha. */
void rgi_transfer_pack_scaled(const rgi_transfer *j, char *to);

#endif
