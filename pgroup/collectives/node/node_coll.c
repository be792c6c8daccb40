/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Barrier and broadcast inside a node. A barrier is one step in which each member sees or is
 * counted by all others. A broadcast is one step for each chunk of the data: the root writes
 * and goes on, the others read; it may be as many short chunks as there are cells, or
 * RGI_SHM_CHUNKS long ones, ahead of them. Long data go by other ways: direct.c and
 * spread.c. */
#include "collectives/node/node_coll.h"

#include "base/copy.h"
#include "base/error.h"
#include "collectives/node/step.h"
#include "collectives/shared/lines_count.h"

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

#define LEAST_SLEEPING ((size_t)256 << 10)

/* From the root's memory to the other members'. */
static int bcast_long(rgi_shared_state *state, const rgi_node_coll_copy *copy) {
  if (!rgi_node_coll_spreads(state))
    return rgi_node_coll_copy_direct(state, copy);
  RGI_TRY(rgi_step_attach_buffer(state, RGI_SHM_CHUNK, copy->call));
  return state->buffer ? rgi_node_coll_spread(state, copy) : rgi_node_coll_copy_direct(state, copy);
}

static int run_bcast(rgi_shared_state *state, void *data, size_t bytes, int root,
                     const char *call) {
  state->bytes = (uint32_t)bytes;
  const rgi_node_coll_copy copy = {.in = data,
                                   .out = data,
                                   .bytes = bytes,
                                   .giver = root,
                                   .reader = RGI_NODE_COLL_ALL,
                                   .call = call};
  if (rgi_node_coll_direct(bytes, rgi_node_coll_direct_least(LEAST_SLEEPING)))
    return bcast_long(state, &copy);
  if (bytes > RGI_SHM_TINY)
    RGI_TRY(rgi_step_attach_buffer(state, bytes, call));
  if (rgi_node_coll_direct_without_buffer(state, bytes))
    return rgi_node_coll_copy_direct(state, &copy);
  if (rgi_node_coll_levels_carry(state, bytes))
    return rgi_node_coll_levels_bcast(state, data, bytes, root, call);
  size_t piece = rgi_step_room(state);
  for (size_t at = 0; at < bytes; at += piece) {
    size_t left = bytes - at;
    RGI_TRY(bcast_step(state, (char *)data + at, left < piece ? left : piece, root, call));
  }
  return RG_SUCCESS;
}

int rgi_node_coll_bcast(rgi_shared_state *state, void *data, size_t bytes, int root,
                        const char *call) {
  return bytes == 0 || state->n == 1
             ? RG_SUCCESS
             : rgi_step_result(state, run_bcast(state, data, bytes, root, call));
}
