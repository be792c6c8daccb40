/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Operations inside a node when the arena has no room for the shared buffer: all data go through
 * the members' cells, a few bytes in each step. Broadcast and gather need nothing of their own:
 * their pieces are shorter (rgi_step_room). */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/node/node_coll.h"
#include "collectives/node/step.h"
#include "collectives/reduction/op_apply.h"

static size_t piece_of(size_t left) {
  return left < RGI_SHM_TINY ? left : RGI_SHM_TINY;
}

/* All members take part in each step, since it is a number that all count. */
static int scatter_piece(rgi_shared_state *l, const rgi_node_coll_blocks *b, int to, size_t at) {
  size_t n = piece_of(b->bytes - at);
  RGI_TRY(rgi_step_begin(l, 0, b->call));
  if (l->me == b->root)
    rgi_step_give(l, (const char *)b->in + (size_t)to * b->bytes + at, n);
  else
    RGI_TRY(rgi_step_take(l, b->root, b->call));
  if (l->me == to)
    memcpy((char *)b->out + at, rgi_step_cell(l, b->root)->data, n);
  rgi_step_end(l);
  return RG_SUCCESS;
}

int rgi_node_coll_scatter_cells(rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  for (int to = 0; to < l->n; to++)
    for (size_t at = 0; at < b->bytes && to != b->root; at += RGI_SHM_TINY)
      RGI_TRY(scatter_piece(l, b, to, at));
  return RG_SUCCESS;
}

/* Each member gives to the one that is `shift` places behind it. */
static int alltoall_piece(rgi_shared_state *l, const rgi_node_coll_blocks *b, int shift,
                          size_t at) {
  size_t n = piece_of(b->bytes - at), to = (size_t)((l->me + shift) % l->n);
  int from = (l->me + l->n - shift) % l->n;
  RGI_TRY(rgi_step_begin(l, 0, b->call));
  uint32_t step = l->step;
  memcpy(rgi_step_cell(l, l->me)->data, (const char *)b->in + to * b->bytes + at, n);
  RGI_TRY(rgi_step_barrier(l, b->call));
  RGI_TRY(rgi_step_check_all(l, step, b->call));
  memcpy((char *)b->out + (size_t)from * b->bytes + at,
         rgi_shared_state_cell_at(l, from, step)->data, n);
  rgi_step_end(l);
  return RG_SUCCESS;
}

int rgi_node_coll_alltoall_cells(rgi_shared_state *l, const rgi_node_coll_blocks *b) {
  for (int shift = 0; shift < l->n; shift++)
    for (size_t at = 0; at < b->bytes; at += RGI_SHM_TINY)
      RGI_TRY(alltoall_piece(l, b, shift, at));
  return RG_SUCCESS;
}

/* --- elements that do not fit into a cell, and those that an operation takes together ------ */

/* n elements from i on: their operands are gathered, and combined from the last one to the
 * first. */
static int reduce_elements(rgi_shared_state *l, const rgi_node_coll_reduction *r, size_t i,
                           size_t n, char *operands) {
  const size_t bytes = n * r->size, at = i * r->size;
  int last = rgi_node_coll_last_operand(l, r), root = r->root < 0 ? RGI_NODE_COLL_ALL : r->root;
  rgi_node_coll_blocks b = {(const char *)r->in + at, operands, bytes, root, r->call};
  RGI_TRY(rgi_node_coll_gather(l, &b));
  if (last < 0)
    return RG_SUCCESS;
  char *result = operands + (size_t)last * bytes;
  for (int k = last - 1; k >= 0; k--)
    RGI_TRY(rgi_op_apply(operands + (size_t)k * bytes, result, n, r->type, r->op));
  memcpy((char *)r->out + at, result, bytes);
  return RG_SUCCESS;
}

int rgi_node_coll_reduce_elements(rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  const size_t n = r->whole ? r->count : 1;
  char *operands = malloc((size_t)l->n * n * r->size);
  int error = operands ? RG_SUCCESS
                       : rgi_error(RG_ERR_NOMEM, "%s: no memory for %d elements of %zu bytes",
                                   r->call, l->n, n * r->size);
  for (size_t i = 0; i < r->count && !error; i += n)
    error = reduce_elements(l, r, i, n, operands);
  free(operands);
  return error;
}
