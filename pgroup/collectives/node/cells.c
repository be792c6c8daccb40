/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Operations inside a node when the arena has no room for the shared buffer, or when it is asked
 * for by name: all data go through the members' cells, a few bytes in each step. Broadcast and
 * gather need nothing of their own: their pieces are shorter. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/node/node_coll.h"
#include "collectives/node/step.h"
#include "collectives/reduction/op.h"

static size_t piece_of(size_t left) {
  return left < RGI_SHM_TINY ? left : RGI_SHM_TINY;
}

/* All members take part in each step, since it is a number that all count. */
static int scatter_piece(rgi_shared_state *state, const rgi_node_coll_blocks *blocks, int to,
                         size_t at) {
  size_t n = piece_of(blocks->bytes - at);
  RGI_TRY(rgi_step_begin(state, 0, blocks->call));
  if (state->me == blocks->root)
    rgi_step_give(state, (const char *)blocks->in + (size_t)to * blocks->bytes + at, n);
  else
    RGI_TRY(rgi_step_take(state, blocks->root, blocks->call));
  if (state->me == to)
    memcpy((char *)blocks->out + at, rgi_step_cell(state, blocks->root)->data, n);
  rgi_step_end(state);
  return RG_SUCCESS;
}

int rgi_node_coll_scatter_cells(rgi_shared_state *state, const rgi_node_coll_blocks *blocks) {
  for (int to = 0; to < state->n; to++)
    for (size_t at = 0; at < blocks->bytes && to != blocks->root; at += RGI_SHM_TINY)
      RGI_TRY(scatter_piece(state, blocks, to, at));
  return RG_SUCCESS;
}

/* Each member gives to the one that is `shift` places behind it. */
static int alltoall_piece(rgi_shared_state *state, const rgi_node_coll_blocks *blocks, int shift,
                          size_t at) {
  size_t n = piece_of(blocks->bytes - at), to = (size_t)((state->me + shift) % state->n);
  int from = (state->me + state->n - shift) % state->n;
  RGI_TRY(rgi_step_begin(state, 0, blocks->call));
  uint32_t step = state->step;
  memcpy(rgi_step_cell(state, state->me)->data, (const char *)blocks->in + to * blocks->bytes + at,
         n);
  RGI_TRY(rgi_step_barrier(state, blocks->call));
  RGI_TRY(rgi_step_check_all(state, step, blocks->call));
  memcpy((char *)blocks->out + (size_t)from * blocks->bytes + at,
         rgi_shared_state_cell_at(state, from, step)->data, n);
  rgi_step_end(state);
  return RG_SUCCESS;
}

int rgi_node_coll_alltoall_cells(rgi_shared_state *state, const rgi_node_coll_blocks *blocks) {
  for (int shift = 0; shift < state->n; shift++)
    for (size_t at = 0; at < blocks->bytes; at += RGI_SHM_TINY)
      RGI_TRY(alltoall_piece(state, blocks, shift, at));
  return RG_SUCCESS;
}

/* --- elements that do not fit into a cell, and those that an operation takes together ------ */

/* n elements from i on: their operands are gathered, and combined from the last one to the
 * first. */
static int reduce_elements(rgi_shared_state *state, const rgi_node_coll_reduction *reduction,
                           size_t i, size_t n, char *operands) {
  const size_t bytes = n * reduction->size, at = i * reduction->size;
  int last = rgi_node_coll_last_operand(state, reduction),
      root = reduction->root < 0 ? RGI_NODE_COLL_ALL : reduction->root;
  rgi_node_coll_blocks blocks = {.in = (const char *)reduction->in + at,
                                 .out = operands,
                                 .bytes = bytes,
                                 .root = root,
                                 .call = reduction->call,
                                 .way = RGI_WAY_CHUNKS};
  RGI_TRY(rgi_node_coll_gather(state, &blocks));
  if (last < 0)
    return RG_SUCCESS;
  char *result = operands + (size_t)last * bytes;
  for (int k = last - 1; k >= 0; k--)
    RGI_TRY(rgi_op_apply(operands + (size_t)k * bytes, result, n, reduction->type, reduction->op));
  memcpy((char *)reduction->out + at, result, bytes);
  return RG_SUCCESS;
}

int rgi_node_coll_reduce_elements(rgi_shared_state *state,
                                  const rgi_node_coll_reduction *reduction) {
  const size_t n = reduction->whole ? reduction->count : 1;
  char *operands = malloc((size_t)state->n * n * reduction->size);
  int error = operands ? RG_SUCCESS
                       : rgi_error(RG_ERR_NOMEM, "%s: no memory for %d elements of %zu bytes",
                                   reduction->call, state->n, n * reduction->size);
  for (size_t i = 0; i < reduction->count && !error; i += n)
    error = reduce_elements(state, reduction, i, n, operands);
  free(operands);
  return error;
}
