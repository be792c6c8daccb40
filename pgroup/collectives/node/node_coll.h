/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Collectives among the members of a group that are on one node, in shared
 * memory. Every member calls the same operations in the same order; blocking. */
#ifndef RGI_NODE_COLL_H
#define RGI_NODE_COLL_H

#include <mpi.h>
#include <stddef.h>

#include "collectives/node/way.h"
#include "collectives/shared/shared_state.h"

/* call: the public function, for errors. root: a local member. bytes, count: the
 * same on all. Types are contiguous (extent = size). Reductions keep the order
 * of members and give the same bits to all of them. in may equal out where both
 * have the same size. way: the same on all; in a full arena one that needs the shared buffer
 * becomes RGI_WAY_DIRECT or RGI_WAY_CELLS, which is slow. Errors: RG_ERR_NOMEM (a member could not
 * attach the state), RG_ERR_TIMEOUT, RG_ERR_MPI. */
int rgi_node_coll_barrier(rgi_shared_state *state, const char *call);

/* The caller has given to all others by other means than these operations: no member leaves a
 * barrier that is the next operation before it. Local. */
void rgi_node_coll_note_given(rgi_shared_state *state);

int rgi_node_coll_bcast(rgi_shared_state *state, rgi_way way, void *data, size_t bytes, int root,
                        const char *call);

/* The root of an operation whose result all members get; of a reduction whose result for a member
 * is that of the operands up to its own, and of those before it. */
#define RGI_NODE_COLL_ALL (-1)
#define RGI_NODE_COLL_SCAN (-2)
#define RGI_NODE_COLL_EXSCAN (-3)

/* A reduce, allreduce, scan or exscan. */
typedef struct {
  const void *in;
  void *out;
  size_t count, size; /* elements, bytes of one */
  MPI_Datatype type;
  MPI_Op op;
  int whole; /* one member combines all elements, of RGI_SHM_CHUNK bytes at most */
  int root;  /* or RGI_NODE_COLL_... */
  const char *call;
  rgi_way way;
} rgi_node_coll_reduction;

/* Longer reductions do not go by levels. */
#define RGI_NODE_COLL_LEVELS_MOST ((size_t)1 << 10)

/* The operands of the members up to this one are combined for the caller; -1: it gets no result. */
static inline int rgi_node_coll_last_operand(const rgi_shared_state *state,
                                             const rgi_node_coll_reduction *reduction) {
  if (reduction->root <= RGI_NODE_COLL_SCAN)
    return reduction->root == RGI_NODE_COLL_SCAN ? state->me : state->me - 1;
  return reduction->root < 0 || reduction->root == state->me ? state->n - 1 : -1;
}

int rgi_node_coll_reduce(rgi_shared_state *state, const rgi_node_coll_reduction *reduction);

/* in: reduction->count elements for each member; out: those for the caller, combined; the two do
 * not overlap. It has no root. RGI_WAY_CELLS, RGI_WAY_LEVELS: the whole vector is reduced so on all
 * members. */
int rgi_node_coll_reduce_scatter(rgi_shared_state *state, const rgi_node_coll_reduction *reduction);

/* A reduction whose elements are longer than a chunk or, without the shared buffer, than a cell. */
int rgi_node_coll_reduce_elements(rgi_shared_state *state,
                                  const rgi_node_coll_reduction *reduction);

/* An operation on blocks of one size, in the order of members. in: the caller's block, or a block
 * for each member (scatter: at the root; all-to-all). out: the caller's block (scatter; NULL at the
 * root: it stays in place), or a block of each member (gather: at the root, or on all). */
typedef struct {
  const void *in;
  void *out;
  size_t bytes; /* of a block */
  int root;     /* gather: or RGI_NODE_COLL_ALL; all-to-all has none */
  const char *call;
  rgi_way way;
} rgi_node_coll_blocks;

int rgi_node_coll_gather(rgi_shared_state *state, const rgi_node_coll_blocks *blocks);
int rgi_node_coll_scatter(rgi_shared_state *state, const rgi_node_coll_blocks *blocks);
int rgi_node_coll_alltoall(rgi_shared_state *state, const rgi_node_coll_blocks *blocks);

/* Attaches the shared buffer for so many bytes if the way uses it; without room for it *way becomes
 * another one. block: of so many bytes a block could be copied directly; 0: it could not. */
int rgi_node_coll_attach(rgi_shared_state *state, rgi_way *way, size_t bytes, size_t block,
                         const char *call);

/* RGI_WAY_CELLS, in steps of a cell; state->bytes is set. */
int rgi_node_coll_scatter_cells(rgi_shared_state *state, const rgi_node_coll_blocks *blocks);
int rgi_node_coll_alltoall_cells(rgi_shared_state *state, const rgi_node_coll_blocks *blocks);

/* A piece of each member's block for each other one, in a step. */
typedef struct {
  const char *in;       /* the caller's piece for the first member */
  size_t stride, bytes; /* from one to the next, which lies in another block; of a piece */
  const char *call;
  uint32_t step; /* set by rgi_node_coll_give_pieces */
} rgi_node_coll_pieces;

/* Gives the caller's pieces, and waits until all have done so; then: member i's piece for the
 * caller. The caller ends the step. */
int rgi_node_coll_give_pieces(rgi_shared_state *state, rgi_node_coll_pieces *pieces);
const char *rgi_node_coll_piece(rgi_shared_state *state, const rgi_node_coll_pieces *pieces, int i);

/* Long blocks, which a member copies from another one's memory to its own, once. The givers wait
 * until that has been done. */
typedef struct {
  const void *in;         /* of a giver */
  const void *own;        /* the caller's own block, which it copies itself; or NULL */
  char *out;              /* of a reader */
  size_t bytes, from, to; /* of a block; between the blocks of a giver, and of a reader */
  int giver, reader;      /* a member, or RGI_NODE_COLL_ALL: all the others */
  const char *call;
} rgi_node_coll_copy;

/* state->bytes is set. */
int rgi_node_coll_copy_direct(rgi_shared_state *state, const rgi_node_coll_copy *copy);

/* What a member publishes whose memory others are to read: it does not leave the operation before
 * it knows that they have. */
typedef struct {
  uint64_t address, bytes; /* of its blocks; of one block */
  _Atomic uint32_t read;   /* its only reader stores the step's number after its copy */
} rgi_node_coll_offer;

/* An offer of the step that runs. */
rgi_node_coll_offer rgi_node_coll_offer_make(const rgi_shared_state *state, const void *memory,
                                             size_t bytes);

/* Member i's, which has published the step. RG_ERR_TRUNCATE, RG_ERR_MISMATCH: its blocks have
 * another length. */
int rgi_node_coll_offer_of(rgi_shared_state *state, int i, size_t bytes, const char *call,
                           rgi_node_coll_offer **offer);

/* Reads member i's memory at an address in its offer. An error if the member may have left. */
int rgi_node_coll_read_member(rgi_shared_state *state, int i, uint64_t address, void *to,
                              size_t bytes, const char *call);

/* RGI_WAY_SPREAD, with the shared buffer: the members share the reading of the root's memory, then
 * read from one another. Where each process has a processor. */
int rgi_node_coll_spread(rgi_shared_state *state, const rgi_node_coll_copy *copy);

/* RGI_WAY_LEVELS: a member reads the cells or chunks of its children and its parent only. Only
 * where state->levels are. A reduction by the user's own operation does not go so: it may depend on
 * the order of members. state->bytes is set, and the shared buffer attached for more than
 * RGI_SHM_TINY bytes. */
int rgi_node_coll_levels_bcast(rgi_shared_state *state, void *data, size_t bytes, int root,
                               const char *call);
int rgi_node_coll_levels_reduce(rgi_shared_state *state, const rgi_node_coll_reduction *reduction);

/* Scans double the distance to the member that is read, and keep the order of members. */
int rgi_node_coll_levels_scan(rgi_shared_state *state, const rgi_node_coll_reduction *reduction);

#endif
