/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gather, scatter, allgather and all-to-all inside a node: through the shared buffer, chunk
 * by chunk, one step for each. Gather and allgather: each member publishes a chunk of its
 * block and the receivers copy all of them. Scatter: the root writes a piece for each other member
 * into that member's chunk and goes on, as far as there is room; tiny pieces lie side by side in
 * its cell. All-to-all: each member's chunk holds a piece for each other one, and a barrier stands
 * between writing and reading. */
#include <string.h>

#include "base/copy.h"
#include "base/error.h"
#include "collectives/node/node_coll.h"
#include "collectives/node/step.h"
#include "collectives/shared/lines_count.h"

/* The shortest blocks that are copied directly where processes share processors; of an allgather or
 * alltoall what a member gets in all: more no longer fits into the caches. */
#define GATHER_LEAST ((size_t)1 << 20)
#define SCATTER_LEAST_DIRECT ((size_t)128 << 10)
#define ALLGATHER_LEAST ((size_t)32 << 20)
#define ALLTOALL_LEAST ((size_t)1 << 20)
/* Of an alltoall with a processor for each process: blocks that fill a chunk, but not shorter than
 * a system call is worth. */
#define ALLTOALL_LEAST_SPINNING ((size_t)8 << 10)

static size_t smaller_of(size_t a, size_t b) {
  return a < b ? a : b;
}

/* The caller's part of a step for a piece of n bytes, which begins at byte `at` of each block.
 * Every member publishes its piece; a receiver reads them all. It begins with its own, so that not
 * all receivers read the same one. */
static int gather_step(rgi_shared_state *l, const rgi_node_coll_blocks *b, size_t at, size_t n) {
  int tiny = n <= RGI_SHM_TINY, is_receiver = b->root < 0 || b->root == l->me;
  const char *in = (const char *)b->in + at;
  RGI_TRY(rgi_step_begin(l, !tiny, b->call));
  if (!tiny)
    rgi_copy_block(rgi_step_chunk(l, l->me, l->step), in, n);
  uint32_t step = l->step;
  rgi_step_give_counted(l, in, tiny ? n : 0);
  if (is_receiver && !rgi_step_can_spin())
    RGI_TRY(rgi_step_await_all(l, b->call));
  for (int k = 0; k < l->n && is_receiver; k++) {
    int i = (l->me + k) % l->n;
    if (rgi_step_can_spin() && i != l->me)
      RGI_TRY(rgi_step_await_member(l, i, b->call));
    RGI_TRY(rgi_step_check_length(l, i, step, b->call));
    RGI_LINES_COUNT_READ(tiny || i == l->me ? 0 : RGI_LINES_COUNT_OF(n));
    rgi_copy_block((char *)b->out + (size_t)i * b->bytes + at, rgi_step_data(l, i, n), n);
  }
  rgi_step_end(l);
  return RG_SUCCESS;
}

static int gather_direct(rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  rgi_node_coll_copy c = {.in = b->in,
                          .own = b->root < 0 || b->root == l->me ? b->in : NULL,
                          .out = b->out,
                          .bytes = b->bytes,
                          .to = b->bytes,
                          .giver = RGI_NODE_COLL_ALL,
                          .reader = b->root,
                          .call = b->call};
  return rgi_node_coll_copy_direct(l, &c);
}

/* Beside a root that reads one block after the other, a giver goes on as soon as its block is in
 * its chunks. */
static size_t gather_least(const rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  if (b->root < 0)
    return rgi_node_coll_direct_least(ALLGATHER_LEAST / (size_t)l->n);
  if (l->n > 2 && rgi_step_can_spin())
    return RGI_SHM_CHUNKS * RGI_SHM_CHUNK + 1;
  return rgi_node_coll_direct_least(GATHER_LEAST);
}

/* in may be the caller's own block of out: it is read before anything is
 * written there. */
static int run_gather(rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  l->bytes = (uint32_t)b->bytes;
  if (rgi_node_coll_direct(b->bytes, gather_least(l, b)))
    return gather_direct(l, b);
  if (b->bytes > RGI_SHM_TINY)
    RGI_TRY(rgi_step_attach_buffer(l, b->bytes, b->call));
  if (rgi_node_coll_direct_without_buffer(l, b->bytes))
    return gather_direct(l, b);
  size_t piece = rgi_step_room(l);
  for (size_t at = 0; at < b->bytes; at += piece)
    RGI_TRY(gather_step(l, b, at, smaller_of(piece, b->bytes - at)));
  return RG_SUCCESS;
}

int rgi_node_coll_gather(rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  if (b->bytes == 0)
    return RG_SUCCESS;
  if (l->n > 1)
    return rgi_step_result(l, run_gather(l, b));
  if (b->in != b->out)
    rgi_copy_block(b->out, b->in, b->bytes);
  return RG_SUCCESS;
}

/* Whether the blocks of all members but the root have room in its cell. */
static int fits_cell(const rgi_shared_state *l, size_t bytes) {
  return bytes <= RGI_SHM_TINY / (size_t)(l->n - 1);
}

/* Where the root puts member i's piece. */
static char *place_of_piece(rgi_shared_state *l, const rgi_node_coll_blocks *b, int i) {
  if (fits_cell(l, b->bytes))
    return rgi_step_cell(l, b->root)->data + (size_t)(i - (i > b->root)) * b->bytes;
  return rgi_step_chunk(l, i, l->step);
}

static int scatter_step(rgi_shared_state *l, const rgi_node_coll_blocks *b, size_t at, size_t n) {
  if (l->me == b->root) {
    RGI_TRY(rgi_step_begin(l, !fits_cell(l, b->bytes), b->call));
    for (int i = 0; i < l->n; i++)
      if (i != b->root)
        rgi_copy_block(place_of_piece(l, b, i), (const char *)b->in + (size_t)i * b->bytes + at, n);
    rgi_step_give(l, NULL, 0);
  } else {
    RGI_TRY(rgi_step_begin_unread(l, b->call));
    RGI_TRY(rgi_step_take(l, b->root, b->call));
    RGI_LINES_COUNT_READ(RGI_LINES_COUNT_OF(n));
    rgi_copy_block((char *)b->out + at, place_of_piece(l, b, l->me), n);
  }
  rgi_step_end(l);
  return RG_SUCCESS;
}

/* Receivers that run beside the root begin while it writes; others run after it. In any case it
 * waits for them the less the longer the pieces are. */
#define SCATTER_LEAST ((size_t)16 << 10)

static size_t scatter_length(size_t bytes) {
  size_t part = (bytes / RGI_SHM_CHUNKS + RGI_LINE) / RGI_LINE * RGI_LINE;
  if (!rgi_step_can_spin() || part > RGI_SHM_CHUNK)
    return RGI_SHM_CHUNK;
  return part > SCATTER_LEAST ? part : SCATTER_LEAST;
}

static int run_scatter(rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  size_t piece = scatter_length(b->bytes);
  l->bytes = (uint32_t)b->bytes;
  if (!fits_cell(l, b->bytes)) {
    RGI_TRY(rgi_step_attach_buffer(l, b->bytes, b->call));
    if (!l->buffer)
      return rgi_node_coll_scatter_cells(l, b);
  }
  for (size_t at = 0; at < b->bytes; at += piece)
    RGI_TRY(scatter_step(l, b, at, smaller_of(piece, b->bytes - at)));
  return RG_SUCCESS;
}

/* The root's own block, or NULL. */
static const char *own_of_root(const rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  return l->me == b->root && b->out ? (const char *)b->in + (size_t)l->me * b->bytes : NULL;
}

static int scatter_direct(rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  l->bytes = (uint32_t)b->bytes;
  return rgi_node_coll_copy_direct(l, &(rgi_node_coll_copy){.in = b->in,
                                                            .own = own_of_root(l, b),
                                                            .out = b->out,
                                                            .bytes = b->bytes,
                                                            .from = b->bytes,
                                                            .giver = b->root,
                                                            .reader = RGI_NODE_COLL_ALL,
                                                            .call = b->call});
}

int rgi_node_coll_scatter(rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  if (b->bytes == 0)
    return RG_SUCCESS;
  if (l->n > 1 && rgi_node_coll_direct(b->bytes, rgi_node_coll_direct_least(SCATTER_LEAST_DIRECT)))
    return rgi_step_result(l, scatter_direct(l, b));
  const char *own = own_of_root(l, b);
  if (own && own != b->out)
    rgi_copy_block(b->out, own, b->bytes);
  return l->n == 1 ? RG_SUCCESS : rgi_step_result(l, run_scatter(l, b));
}

static int alltoall_step(rgi_shared_state *l, const rgi_node_coll_blocks *b, size_t at, size_t n) {
  rgi_node_coll_pieces p = {(const char *)b->in + at, b->bytes, n, b->call, 0};
  RGI_TRY(rgi_node_coll_give_pieces(l, &p));
  for (int k = 0; k < l->n; k++) {
    int i = (l->me + k) % l->n;
    rgi_copy_block((char *)b->out + (size_t)i * b->bytes + at, rgi_node_coll_piece(l, &p, i), n);
  }
  rgi_step_end(l);
  return RG_SUCCESS;
}

static int alltoall_direct(rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  return rgi_node_coll_copy_direct(
      l, &(rgi_node_coll_copy){.in = b->in,
                               .own = (const char *)b->in + (size_t)l->me * b->bytes,
                               .out = b->out,
                               .bytes = b->bytes,
                               .from = b->bytes,
                               .to = b->bytes,
                               .giver = RGI_NODE_COLL_ALL,
                               .reader = RGI_NODE_COLL_ALL,
                               .call = b->call});
}

static size_t alltoall_least(const rgi_shared_state *l) {
  if (!rgi_step_can_spin())
    return ALLTOALL_LEAST / (size_t)l->n;
  size_t part = RGI_SHM_CHUNK / (size_t)l->n;
  return part > ALLTOALL_LEAST_SPINNING ? part : ALLTOALL_LEAST_SPINNING;
}

static int run_alltoall(rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  size_t piece = RGI_SHM_CHUNK / (size_t)l->n;
  l->bytes = (uint32_t)b->bytes;
  if (rgi_node_coll_direct(b->bytes, alltoall_least(l)))
    return alltoall_direct(l, b);
  if (piece == 0)
    return rgi_error(RG_ERR_UNSUPPORTED, "%s: %d processes on one node are too many", b->call,
                     l->n);
  RGI_TRY(rgi_step_attach_buffer(l, (size_t)l->n * b->bytes, b->call));
  if (rgi_node_coll_direct_without_buffer(l, b->bytes))
    return alltoall_direct(l, b);
  if (!l->buffer)
    return rgi_node_coll_alltoall_cells(l, b);
  for (size_t at = 0; at < b->bytes; at += piece)
    RGI_TRY(alltoall_step(l, b, at, smaller_of(piece, b->bytes - at)));
  return RG_SUCCESS;
}

/* A group of one member needs no shared memory. */
int rgi_node_coll_alltoall(rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  if (b->bytes == 0)
    return RG_SUCCESS;
  if (l->n > 1)
    return rgi_step_result(l, run_alltoall(l, b));
  if (b->in != b->out)
    rgi_copy_block(b->out, b->in, b->bytes);
  return RG_SUCCESS;
}
