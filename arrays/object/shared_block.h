/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A block of the node's arena that the members of a group share, all of them on
 * one node. They meet in a slot whose key is the group's context: the first one
 * takes the block and says there how it went, the last one to leave gives it back.
 * No message; nobody waits but those who come while the first one is at it. */
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
  rgi_bell came;          /* how many members have come and said what they found */
  _Atomic uint32_t first; /* who is the first to come */
  _Atomic uint32_t left;
  _Atomic uint32_t given;
  uint32_t maker; /* the member that came first */
  uint64_t hash, block, bytes;
  _Atomic unsigned char has_left[]; /* each of them */
} rgi_shared_block_state;

typedef struct {
  uint64_t slot; /* 0: none */
  rgi_shared_block_state *place;
  char *base; /* the block */
} rgi_shared_block;

/* How the first one makes it. */
typedef struct {
  const char *what; /* for the text when there is no memory */
  int (*bytes)(void *context, size_t *bytes);
  void (*fill)(void *context, char *base);
  void *context;
} rgi_shared_block_maker;

/* Every member of g; g is the object's own (its context is the key). hash: of what
 * the members are to agree on. error: the caller's own; it is told to the others
 * and returned. Errors: what a member before has found, RG_ERR_MISMATCH (hash);
 * those that came before are told by rgi_shared_block_confirm. After an error there is
 * nothing to close. */
int rgi_shared_block_open(const char *call, rg_group g, uint64_t hash,
                          const rgi_shared_block_maker *maker, int error, rgi_shared_block *s);

/* Waits until all members have come. What one of them has found; RG_ERR_TIMEOUT. */
int rgi_shared_block_confirm(const char *call, rg_group g, const rgi_shared_block *s);

/* Leaves. Nobody waits; nor does the block for members that have died. */
void rgi_shared_block_close(rg_group g, rgi_shared_block *s);

#endif
