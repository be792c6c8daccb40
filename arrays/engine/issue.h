/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One operation on the window. */
#ifndef RGI_ISSUE_H
#define RGI_ISSUE_H

#include "engine/remote.h"

typedef struct {
  rgi_remote_kind kind;
  int target;
  uint64_t offset;
  char *near;
  rg_type type;
  const void *alpha;       /* NULL: 1 */
  rgi_far_patch patch;     /* from near and offset on; or: */
  const rgi_far_run *runs; /* n of them, relative to near and offset; NULL: the patch */
  int n;
  int may_block; /* the caller waits at once, and for ever */
} rgi_remote_job;

typedef struct rgi_remote_piece {
  struct rgi_remote_piece *next;
  struct rgi_served_op *served; /* served.h; or NULL and: */
  MPI_Request request;
  void *copy;    /* what is sent instead of the caller's buffer; or NULL */
  unsigned turn; /* for rgi_remote_left */
} rgi_remote_piece;

/* What the kinds are called. */
extern const char *const rgi_remote_calls[];

/* Starts it, all in one: so many bytes, at most rgi_remote.most. */
int rgi_remote_issue(const rgi_remote_job *j, int64_t bytes, rgi_remote_piece *p);

/* The near side, packed and times alpha. */
void rgi_remote_scaled(const rgi_remote_job *j, char *to);

#endif
