/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A block of the node's arena that the members of a group share, all of them on
 * one node. They attach to a slot whose key is the group's context. The first member to arrive
 * takes the block and writes the result into the slot, the last one to leave gives the block back.
 * No message is sent. A member waits only if it arrives while the first one takes the block. */
#ifndef RGI_SHARED_BLOCK_H
#define RGI_SHARED_BLOCK_H

#include <regroup/group.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bell.h"

/* Whether all members are on the caller's node. */
int rgi_shared_block_possible(rg_group g);

/* In the slot. */
typedef struct {
  rgi_bell state;         /* 0: being made; 1: ready; else an error's code + 1 */
  rgi_bell came;          /* members that have arrived and written their errors */
  _Atomic uint32_t first; /* 1: the first member has arrived */
  _Atomic uint32_t left;  /* members that have left */
  _Atomic uint32_t given; /* 1: the block has been given back */
  uint32_t maker;         /* the member that arrived first */
  uint64_t hash, block, bytes;
  _Atomic unsigned char has_left[]; /* each of them */
} rgi_shared_block_state;

typedef struct {
  uint64_t slot; /* 0: none */
  rgi_shared_block_state *place;
  char *base; /* the block */
} rgi_shared_block;

/* How the first member makes it, and what all members check. */
typedef struct {
  const char *what; /* for the text when there is no memory */
  int (*bytes)(void *context, size_t *bytes);
  void (*fill)(void *context, char *base);
  void *context;
  uint64_t hash; /* of what has to be the same on all members */
  const char *(*difference)(uint64_t mine, uint64_t theirs); /* in what, where hashes differ */
  void (*ends)(void *context, uint64_t end[]); /* where each member's part of the block ends, for
                                                  its memory node; NULL: it has no such parts */
} rgi_shared_block_maker;

/* Every member of g; g is the object's own (its context is the key). error: the caller's own; it is
 * written for the others and returned. Errors: that of a member which arrived before,
 * RG_ERR_MISMATCH (the hash); members that arrived before get the caller's by
 * rgi_shared_block_confirm. After an error there is nothing to close. */
int rgi_shared_block_open(const char *call, rg_group g, const rgi_shared_block_maker *maker,
                          int error, rgi_shared_block *shared);

/* Waits until all members have arrived. The error of one of them; RG_ERR_TIMEOUT. */
int rgi_shared_block_confirm(const char *call, rg_group g, const rgi_shared_block *shared);

/* Leaves, without waiting. The block is given back although members that died never left. */
void rgi_shared_block_close(rg_group g, rgi_shared_block *shared);

#endif
