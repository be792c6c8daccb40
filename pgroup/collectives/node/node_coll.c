/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Barrier and broadcast inside a node. A barrier is one step in which each member sees or is
 * counted by all others. A broadcast is one step for each chunk of the data: the root writes
 * and goes on, the others read; it may be as many short chunks as there are cells, or
 * RGI_SHM_CHUNKS long ones, ahead of them. Other ways of a broadcast: node_levels.c, direct.c and
 * spread.c. */
#include "collectives/node/node_coll.h"

#include "base/copy.h"
#include "base/error.h"
#include "collectives/node/step.h"
#include "collectives/shared/lines_count.h"
#include "shm/node.h"

static int run_barrier(rgi_shared_state *state, const char *call) {
  RGI_TRY(rgi_step_begin_near(state, call));
  RGI_TRY(rgi_step_barrier(state, call));
  rgi_step_end(state);
  return RG_SUCCESS;
}

int rgi_node_coll_barrier(rgi_shared_state *state, const char *call) {
  state->bytes = 0;
  return state->n == 1 ? RG_SUCCESS : rgi_step_result(state, run_barrier(state, call));
}

void rgi_node_coll_note_given(rgi_shared_state *state) {
  state->gave = state->step;
}

/* One step: the root's data go to all members, tiny data in its cell. */
static int bcast_step(rgi_shared_state *state, char *data, size_t bytes, int root,
                      const char *call) {
  int tiny = bytes <= RGI_SHM_TINY;
  if (state->me == root) {
    RGI_TRY(rgi_step_begin(state, !tiny, call));
    if (!tiny)
      rgi_copy_block(rgi_step_chunk(state, root, state->step), data, bytes);
    rgi_step_give(state, data, tiny ? bytes : 0);
  } else {
    RGI_TRY(rgi_step_begin_unread(state, call));
    RGI_TRY(rgi_step_take(state, root, call));
    RGI_LINES_COUNT_READ(tiny ? 0 : RGI_LINES_COUNT_OF(bytes));
    rgi_copy_block(data, rgi_step_data(state, root, bytes), bytes);
  }
  rgi_step_end(state);
  return RG_SUCCESS;
}

int rgi_node_coll_attach(rgi_shared_state *state, rgi_way *way, size_t bytes, size_t block,
                         const char *call) {
  if (*way == RGI_WAY_CELLS || *way == RGI_WAY_DIRECT)
    return RG_SUCCESS;
  RGI_TRY(rgi_step_attach_buffer(state, bytes, call));
  if (!state->buffer) /* a short block takes fewer steps than a system call is worth */
    *way = rgi_node.pids && block >= 1024 ? RGI_WAY_DIRECT : RGI_WAY_CELLS;
  return RG_SUCCESS;
}

static int run_bcast(rgi_shared_state *state, rgi_way way, void *data, size_t bytes, int root,
                     const char *call) {
  const rgi_node_coll_copy copy = {.in = data,
                                   .out = data,
                                   .bytes = bytes,
                                   .giver = root,
                                   .reader = RGI_NODE_COLL_ALL,
                                   .call = call};
  state->bytes = (uint32_t)bytes;
  if (bytes > RGI_SHM_TINY)
    RGI_TRY(rgi_node_coll_attach(state, &way, bytes, bytes, call));
  if (way == RGI_WAY_DIRECT)
    return rgi_node_coll_copy_direct(state, &copy);
  if (way == RGI_WAY_SPREAD)
    return rgi_node_coll_spread(state, &copy);
  if (way == RGI_WAY_LEVELS)
    return rgi_node_coll_levels_bcast(state, data, bytes, root, call);
  size_t piece = way == RGI_WAY_CELLS ? RGI_SHM_TINY : RGI_SHM_CHUNK;
  for (size_t at = 0; at < bytes; at += piece) {
    size_t left = bytes - at;
    RGI_TRY(bcast_step(state, (char *)data + at, left < piece ? left : piece, root, call));
  }
  return RG_SUCCESS;
}

int rgi_node_coll_bcast(rgi_shared_state *state, rgi_way way, void *data, size_t bytes, int root,
                        const char *call) {
  return bytes == 0 || state->n == 1
             ? RG_SUCCESS
             : rgi_step_result(state, run_bcast(state, way, data, bytes, root, call));
}
