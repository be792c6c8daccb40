/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reduce-scatter inside a node. In each step every member gives a piece to each other one
 * (pieces.c), and combines those for it, from the last member's to the first one's as all
 * reductions do, in its own result: so each step has one barrier, and no member reads results.
 * By cells and levels, and where that is not possible, the whole vector is reduced on all members.
 *
 * RGI_WAY_DIRECT, where each process has a processor: a member reads the blocks for it from the
 * others' memory instead, a piece of each, into its part of the shared buffer. */
#include <stdlib.h>

#include "base/copy.h"
#include "base/error.h"
#include "collectives/node/node_coll.h"
#include "collectives/node/step.h"
#include "collectives/reduction/op.h"

/* Elements [at, at + n) of each block. */
static int combine_step(rgi_shared_state *state, const rgi_node_coll_reduction *reduction,
                        size_t at, size_t n) {
  char *out = (char *)reduction->out + at * reduction->size;
  rgi_node_coll_pieces pieces = {.in = (const char *)reduction->in + at * reduction->size,
                                 .stride = reduction->count * reduction->size,
                                 .bytes = n * reduction->size,
                                 .call = reduction->call};
  RGI_TRY(rgi_node_coll_give_pieces(state, &pieces));
  rgi_copy_block(out, rgi_node_coll_piece(state, &pieces, state->n - 1), pieces.bytes);
  for (int i = state->n - 2; i >= 0; i--)
    RGI_TRY(rgi_op_apply(rgi_node_coll_piece(state, &pieces, i), out, n, reduction->type,
                         reduction->op));
  rgi_step_end(state);
  return RG_SUCCESS;
}

/* Elements [at, at + n) of the caller's block on each member, which has published where its vector
 * is. That was in the operation's first step: all have ended those before, and no member reads the
 * caller's part. */
static int read_and_combine(rgi_shared_state *state, const rgi_node_coll_reduction *reduction,
                            size_t at, size_t n) {
  size_t bytes = n * reduction->size,
         begin = ((size_t)state->me * reduction->count + at) * reduction->size;
  char *part = rgi_step_part(state, state->me),
       *out = (char *)reduction->out + at * reduction->size;
  rgi_copy_block(part + (size_t)state->me * bytes, (const char *)reduction->in + begin, bytes);
  for (int k = 1; k < state->n; k++) {
    int i = (state->me + k) % state->n;
    rgi_node_coll_offer *offer;
    RGI_TRY(rgi_node_coll_offer_of(state, i, reduction->count * reduction->size, reduction->call,
                                   &offer));
    RGI_TRY(rgi_node_coll_read_member(state, i, offer->address + begin, part + (size_t)i * bytes,
                                      bytes, reduction->call));
  }
  rgi_copy_block(out, part + (size_t)(state->n - 1) * bytes, bytes);
  for (int i = state->n - 2; i >= 0; i--)
    RGI_TRY(rgi_op_apply(part + (size_t)i * bytes, out, n, reduction->type, reduction->op));
  return RG_SUCCESS;
}

static int run_direct(rgi_shared_state *state, const rgi_node_coll_reduction *reduction,
                      size_t piece) {
  RGI_TRY(rgi_step_begin(state, 0, reduction->call));
  const rgi_node_coll_offer mine =
      rgi_node_coll_offer_make(state, reduction->in, reduction->count * reduction->size);
  rgi_step_publish(state, &mine, sizeof mine);
  for (int k = 1; k < state->n; k++)
    RGI_TRY(rgi_step_await_member(state, (state->me + k) % state->n, reduction->call));
  RGI_TRY(rgi_step_check_all(state, state->step, reduction->call));
  for (size_t at = 0; at < reduction->count; at += piece) {
    size_t left = reduction->count - at;
    RGI_TRY(read_and_combine(state, reduction, at, left < piece ? left : piece));
  }
  rgi_step_end(state);
  return rgi_step_await_ended(state, reduction->call);
}

/* The sum of all blocks on all members; each takes its own. */
static int reduce_all(rgi_shared_state *state, const rgi_node_coll_reduction *reduction,
                      rgi_way way) {
  size_t block = reduction->count * reduction->size;
  rgi_node_coll_reduction all = *reduction;
  _Alignas(16) char tiny[RGI_SHM_TINY];
  int is_tiny = block <= RGI_SHM_TINY / (size_t)state->n;
  char *sum = is_tiny ? tiny : malloc((size_t)state->n * block);
  if (!sum) /* the others must not wait for this member */
    return rgi_step_result(state,
                           rgi_error(RG_ERR_NOMEM, "%s: no memory for %d blocks of %zu bytes",
                                     reduction->call, state->n, block));
  all.out = sum;
  all.count = (size_t)state->n * reduction->count;
  all.root = RGI_NODE_COLL_ALL;
  all.way = way;
  int error = rgi_node_coll_reduce(state, &all);
  if (!error)
    rgi_copy_block(reduction->out, sum + (size_t)state->me * block, block);
  if (!is_tiny)
    free(sum);
  return error;
}

/* Elements that a member gives to each other one in a step; 0: not even one. */
static size_t piece_of(const rgi_shared_state *state, const rgi_node_coll_reduction *reduction,
                       size_t room) {
  return room / ((size_t)state->n * reduction->size);
}

static int run_steps(rgi_shared_state *state, const rgi_node_coll_reduction *reduction,
                     rgi_way way) {
  size_t direct = piece_of(state, reduction, RGI_SHM_CHUNKS * RGI_SHM_CHUNK),
         piece = piece_of(state, reduction, RGI_SHM_CHUNK);
  if (way == RGI_WAY_DIRECT)
    return run_direct(state, reduction, direct);
  for (size_t at = 0; at < reduction->count; at += piece) {
    size_t left = reduction->count - at;
    RGI_TRY(combine_step(state, reduction, at, left < piece ? left : piece));
  }
  return RG_SUCCESS;
}

int rgi_node_coll_reduce_scatter(rgi_shared_state *state,
                                 const rgi_node_coll_reduction *reduction) {
  if (reduction->count == 0 || reduction->size == 0)
    return RG_SUCCESS;
  size_t all = (size_t)state->n * reduction->count * reduction->size;
  rgi_way way = reduction->way;
  if (state->n == 1) {
    if (reduction->in != reduction->out)
      rgi_copy_block(reduction->out, reduction->in, all);
    return RG_SUCCESS;
  }
  if (reduction->whole || piece_of(state, reduction, RGI_SHM_CHUNK) == 0)
    return reduce_all(state, reduction, RGI_WAY_CHUNKS);
  if (way == RGI_WAY_CELLS || way == RGI_WAY_LEVELS)
    return reduce_all(state, reduction, way);
  state->bytes = (uint32_t)all;
  RGI_TRY(rgi_step_result(state, rgi_step_attach_buffer(state, all, reduction->call)));
  return state->buffer ? rgi_step_result(state, run_steps(state, reduction, way))
                       : reduce_all(state, reduction, RGI_WAY_CELLS);
}
