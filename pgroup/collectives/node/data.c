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

static size_t smaller_of(size_t a, size_t b) {
  return a < b ? a : b;
}

/* The caller's part of a step for a piece of n bytes, which begins at byte `at` of each block.
 * Every member publishes its piece; a receiver reads them all. It begins with its own, so that not
 * all receivers read the same one. */
static int gather_step(rgi_shared_state *state, const rgi_node_coll_blocks *blocks, size_t at,
                       size_t n) {
  int tiny = n <= RGI_SHM_TINY, is_receiver = blocks->root < 0 || blocks->root == state->me;
  const char *in = (const char *)blocks->in + at;
  RGI_TRY(rgi_step_begin(state, !tiny, blocks->call));
  if (!tiny)
    rgi_copy_block(rgi_step_chunk(state, state->me, state->step), in, n);
  uint32_t step = state->step;
  rgi_step_give_counted(state, in, tiny ? n : 0);
  if (is_receiver && !rgi_step_can_spin())
    RGI_TRY(rgi_step_await_all(state, blocks->call));
  for (int k = 0; k < state->n && is_receiver; k++) {
    int i = (state->me + k) % state->n;
    if (rgi_step_can_spin() && i != state->me)
      RGI_TRY(rgi_step_await_member(state, i, blocks->call));
    RGI_TRY(rgi_step_check_length(state, i, step, blocks->call));
    RGI_LINES_COUNT_READ(tiny || i == state->me ? 0 : RGI_LINES_COUNT_OF(n));
    rgi_copy_block((char *)blocks->out + (size_t)i * blocks->bytes + at, rgi_step_data(state, i, n),
                   n);
  }
  rgi_step_end(state);
  return RG_SUCCESS;
}

static int gather_direct(rgi_shared_state *state, const rgi_node_coll_blocks *blocks) {
  rgi_node_coll_copy copy = {.in = blocks->in,
                             .own =
                                 blocks->root < 0 || blocks->root == state->me ? blocks->in : NULL,
                             .out = blocks->out,
                             .bytes = blocks->bytes,
                             .to = blocks->bytes,
                             .giver = RGI_NODE_COLL_ALL,
                             .reader = blocks->root,
                             .call = blocks->call};
  return rgi_node_coll_copy_direct(state, &copy);
}

/* in may be the caller's own block of out: it is read before anything is
 * written there. */
static int run_gather(rgi_shared_state *state, const rgi_node_coll_blocks *blocks) {
  rgi_way way = blocks->way;
  state->bytes = (uint32_t)blocks->bytes;
  if (blocks->bytes > RGI_SHM_TINY)
    RGI_TRY(rgi_node_coll_attach(state, &way, blocks->bytes, blocks->bytes, blocks->call));
  if (way == RGI_WAY_DIRECT)
    return gather_direct(state, blocks);
  size_t piece = way == RGI_WAY_CELLS ? RGI_SHM_TINY : RGI_SHM_CHUNK;
  for (size_t at = 0; at < blocks->bytes; at += piece)
    RGI_TRY(gather_step(state, blocks, at, smaller_of(piece, blocks->bytes - at)));
  return RG_SUCCESS;
}

int rgi_node_coll_gather(rgi_shared_state *state, const rgi_node_coll_blocks *blocks) {
  if (blocks->bytes == 0)
    return RG_SUCCESS;
  if (state->n > 1)
    return rgi_step_result(state, run_gather(state, blocks));
  if (blocks->in != blocks->out)
    rgi_copy_block(blocks->out, blocks->in, blocks->bytes);
  return RG_SUCCESS;
}

/* Whether the blocks of all members but the root have room in its cell. */
static int fits_cell(const rgi_shared_state *state, size_t bytes) {
  return bytes <= RGI_SHM_TINY / (size_t)(state->n - 1);
}

/* Where the root puts member i's piece. */
static char *place_of_piece(rgi_shared_state *state, const rgi_node_coll_blocks *blocks, int i) {
  if (fits_cell(state, blocks->bytes))
    return rgi_step_cell(state, blocks->root)->data +
           (size_t)(i - (i > blocks->root)) * blocks->bytes;
  return rgi_step_chunk(state, i, state->step);
}

static int scatter_step(rgi_shared_state *state, const rgi_node_coll_blocks *blocks, size_t at,
                        size_t n) {
  if (state->me == blocks->root) {
    RGI_TRY(rgi_step_begin(state, !fits_cell(state, blocks->bytes), blocks->call));
    for (int i = 0; i < state->n; i++)
      if (i != blocks->root)
        rgi_copy_block(place_of_piece(state, blocks, i),
                       (const char *)blocks->in + (size_t)i * blocks->bytes + at, n);
    rgi_step_give(state, NULL, 0);
  } else {
    RGI_TRY(rgi_step_begin_unread(state, blocks->call));
    RGI_TRY(rgi_step_take(state, blocks->root, blocks->call));
    RGI_LINES_COUNT_READ(RGI_LINES_COUNT_OF(n));
    rgi_copy_block((char *)blocks->out + at, place_of_piece(state, blocks, state->me), n);
  }
  rgi_step_end(state);
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

/* The root's own block, or NULL. */
static const char *own_of_root(const rgi_shared_state *state, const rgi_node_coll_blocks *blocks) {
  return state->me == blocks->root && blocks->out
             ? (const char *)blocks->in + (size_t)state->me * blocks->bytes
             : NULL;
}

static int scatter_direct(rgi_shared_state *state, const rgi_node_coll_blocks *blocks) {
  return rgi_node_coll_copy_direct(state, &(rgi_node_coll_copy){.in = blocks->in,
                                                                .own = own_of_root(state, blocks),
                                                                .out = blocks->out,
                                                                .bytes = blocks->bytes,
                                                                .from = blocks->bytes,
                                                                .giver = blocks->root,
                                                                .reader = RGI_NODE_COLL_ALL,
                                                                .call = blocks->call});
}

static int run_scatter(rgi_shared_state *state, const rgi_node_coll_blocks *blocks) {
  size_t piece = scatter_length(blocks->bytes);
  rgi_way way = blocks->way;
  state->bytes = (uint32_t)blocks->bytes;
  if (!fits_cell(state, blocks->bytes))
    RGI_TRY(rgi_node_coll_attach(state, &way, blocks->bytes, blocks->bytes, blocks->call));
  if (way == RGI_WAY_DIRECT)
    return scatter_direct(state, blocks);
  if (way == RGI_WAY_CELLS && !fits_cell(state, blocks->bytes))
    return rgi_node_coll_scatter_cells(state, blocks);
  for (size_t at = 0; at < blocks->bytes; at += piece)
    RGI_TRY(scatter_step(state, blocks, at, smaller_of(piece, blocks->bytes - at)));
  return RG_SUCCESS;
}

int rgi_node_coll_scatter(rgi_shared_state *state, const rgi_node_coll_blocks *blocks) {
  if (blocks->bytes == 0)
    return RG_SUCCESS;
  const char *own = own_of_root(state, blocks);
  if (own && own != blocks->out && (state->n == 1 || blocks->way != RGI_WAY_DIRECT))
    rgi_copy_block(blocks->out, own, blocks->bytes);
  return state->n == 1 ? RG_SUCCESS : rgi_step_result(state, run_scatter(state, blocks));
}

static int alltoall_step(rgi_shared_state *state, const rgi_node_coll_blocks *blocks, size_t at,
                         size_t n) {
  rgi_node_coll_pieces pieces = {.in = (const char *)blocks->in + at,
                                 .stride = blocks->bytes,
                                 .bytes = n,
                                 .call = blocks->call};
  RGI_TRY(rgi_node_coll_give_pieces(state, &pieces));
  for (int k = 0; k < state->n; k++) {
    int i = (state->me + k) % state->n;
    rgi_copy_block((char *)blocks->out + (size_t)i * blocks->bytes + at,
                   rgi_node_coll_piece(state, &pieces, i), n);
  }
  rgi_step_end(state);
  return RG_SUCCESS;
}

static int alltoall_direct(rgi_shared_state *state, const rgi_node_coll_blocks *blocks) {
  return rgi_node_coll_copy_direct(
      state,
      &(rgi_node_coll_copy){.in = blocks->in,
                            .own = (const char *)blocks->in + (size_t)state->me * blocks->bytes,
                            .out = blocks->out,
                            .bytes = blocks->bytes,
                            .from = blocks->bytes,
                            .to = blocks->bytes,
                            .giver = RGI_NODE_COLL_ALL,
                            .reader = RGI_NODE_COLL_ALL,
                            .call = blocks->call});
}

static int run_alltoall(rgi_shared_state *state, const rgi_node_coll_blocks *blocks) {
  size_t piece = RGI_SHM_CHUNK / (size_t)state->n;
  rgi_way way = piece == 0 && blocks->way == RGI_WAY_CHUNKS ? RGI_WAY_CELLS : blocks->way;
  state->bytes = (uint32_t)blocks->bytes;
  RGI_TRY(rgi_node_coll_attach(state, &way, (size_t)state->n * blocks->bytes, blocks->bytes,
                               blocks->call));
  if (way == RGI_WAY_DIRECT)
    return alltoall_direct(state, blocks);
  if (way == RGI_WAY_CELLS)
    return rgi_node_coll_alltoall_cells(state, blocks);
  for (size_t at = 0; at < blocks->bytes; at += piece)
    RGI_TRY(alltoall_step(state, blocks, at, smaller_of(piece, blocks->bytes - at)));
  return RG_SUCCESS;
}

/* A group of one member needs no shared memory. */
int rgi_node_coll_alltoall(rgi_shared_state *state, const rgi_node_coll_blocks *blocks) {
  if (blocks->bytes == 0)
    return RG_SUCCESS;
  if (state->n > 1)
    return rgi_step_result(state, run_alltoall(state, blocks));
  if (blocks->in != blocks->out)
    rgi_copy_block(blocks->out, blocks->in, blocks->bytes);
  return RG_SUCCESS;
}
