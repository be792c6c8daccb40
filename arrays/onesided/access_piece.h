/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One-sided accesses, and how one piece of an access is moved: by loads and stores if the owner's
 * memory is mapped here, else through the engine. */
#ifndef RGI_ACCESS_PIECE_H
#define RGI_ACCESS_PIECE_H

#include "access/access_kind.h"
#include "engine/engine.h"
#include "object/array.h"

/* Operations of the engine that have been started; the list grows as needed. */
typedef struct {
  rgi_engine_handle *at;
  int n;
  int64_t room;
} rgi_access_started;

/* An access to some patch of an array. */
typedef struct {
  const char *call; /* the public function */
  rg_array a;
  rgi_access_kind kind; /* get, put or accumulate */
  char *buf;            /* read only but for gets */
  const void *alpha;
  const int64_t *step;         /* NULL: every element */
  size_t part, part_at;        /* the bytes of each element that are moved; part 0: all */
  rgi_access_started *started; /* NULL: wait for each */
} rgi_access;

/* Moves a patch of a member's memory that is mapped here; at: bytes from its start. */
int rgi_access_same_node(const rgi_access *access, int rank, uint64_t at, const rgi_strided *patch,
                         char *buf);

/* For an access that collects what it has started: starts a transfer of the engine. */
int rgi_access_start(const rgi_access *access, rgi_transfer *transfer);

/* Adds to elements of a member in this node's memory: integers by processor
 * atomics, others under the member's lock. One node only. */
int rgi_access_accumulate(const rgi_access *access, int rank, const rgi_strided *patch, void *to,
                          const void *from);

#endif
