/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reductions and scans inside a node.
 *
 * RGI_WAY_CELLS is one step for each piece: every member publishes its operands in its cell and
 * combines the cells that it needs; where processors are short the last member to arrive combines
 * them for all, but not in a scan. RGI_WAY_ONCE is one step, too: every member copies its operands
 * into the shared buffer, and those that get a result combine what they need.
 * RGI_WAY_CHUNKS goes chunk by chunk, in two steps each: every member copies its
 * operands into the buffer; after a barrier each combines its share of the elements, in the last
 * member's chunk or, in a scan, in every member's; after another one each copies the whole result.
 * Operands are combined from the last member to the first, since the right one is replaced, and in
 * a scan from the first to the last: so the order of members is kept, and all members get the same
 * bits. */
#include <string.h>

#include "base/copy.h"
#include "base/error.h"
#include "collectives/node/node_coll.h"
#include "collectives/node/step.h"
#include "collectives/reduction/op.h"
#include "collectives/shared/lines_count.h"

/* Combines what the members up to `last` have given in this step, in the order of members. */
static int combine_operands(rgi_shared_state *state, const rgi_node_coll_reduction *reduction,
                            int last, char *to) {
  size_t bytes = reduction->count * reduction->size;
  RGI_TRY(rgi_step_check_first(state, last + 1, state->step, reduction->call));
  RGI_LINES_COUNT_READ(bytes <= RGI_SHM_TINY ? 0 : (size_t)last * RGI_LINES_COUNT_OF(bytes));
  rgi_copy_block(to, rgi_step_data(state, last, bytes), bytes);
  for (int i = last - 1; i >= 0; i--)
    RGI_TRY(rgi_op_apply(rgi_step_data(state, i, bytes), to, reduction->count, reduction->type,
                         reduction->op));
  return RG_SUCCESS;
}

/* --- at once ------------------------------------------------------------------------- */

/* The last one also releases: a member that means another length may wait for that. */
static void give_operands(rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  size_t bytes = reduction->count * reduction->size;
  rgi_copy_block(rgi_step_data(state, state->me, bytes), reduction->in, bytes);
  rgi_step_publish(state, NULL, 0);
  if (rgi_step_can_spin() || !rgi_step_arrive(state))
    return;
  rgi_step_release(state);
  rgi_bell_wake(&rgi_shared_state_turn_of(state, state->step)->arrived);
}

/* Waits until the members up to `last` have given their operands. */
static int await_operands(rgi_shared_state *state, int last, const char *call) {
  if (!rgi_step_can_spin())
    return rgi_step_await_all(state, call);
  for (int i = 0; i <= last; i++)
    if (i != state->me)
      RGI_TRY(rgi_step_await_member(state, i, call));
  if (last == state->n - 1)
    rgi_step_mark_all_seen(state);
  return RG_SUCCESS;
}

/* In one step: members that get no result go on. */
static int combine_at_once(rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  int last = rgi_node_coll_last_operand(state, reduction);
  RGI_TRY(
      rgi_step_begin(state, reduction->count * reduction->size > RGI_SHM_TINY, reduction->call));
  give_operands(state, reduction);
  if (last >= 0) {
    RGI_TRY(await_operands(state, last, reduction->call));
    RGI_TRY(combine_operands(state, reduction, last, reduction->out));
  }
  rgi_step_end(state);
  return RG_SUCCESS;
}

/* --- tiny -------------------------------------------------------------------------- */

/* The last member to arrive combines for all. */
static int reduce_tiny_sleeping(rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  _Alignas(16) char result[RGI_SHM_TINY];
  size_t bytes = reduction->count * reduction->size;
  const uint32_t *last_arrived = &rgi_shared_state_turn_of(state, state->step)->last_arrived;
  int gets_result = rgi_node_coll_last_operand(state, reduction) >= 0;
  if (rgi_step_arrive(state)) {
    RGI_TRY(combine_operands(state, reduction, state->n - 1, result));
    memcpy(rgi_step_cell(state, state->me)->data, result, bytes);
    rgi_step_release(state);
  } else if (gets_result) {
    RGI_TRY(rgi_step_await_release(state, -1, reduction->call));
  }
  if (!gets_result)
    return RG_SUCCESS;
  RGI_TRY(rgi_step_check_length(state, (int)*last_arrived, state->step, reduction->call));
  memcpy(reduction->out, rgi_step_cell(state, (int)*last_arrived)->data, bytes);
  return RG_SUCCESS;
}

static int reduce_tiny(rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  if (rgi_step_can_spin() || reduction->root <= RGI_NODE_COLL_SCAN)
    return combine_at_once(state, reduction);
  RGI_TRY(rgi_step_begin(state, 0, reduction->call));
  rgi_step_publish(state, reduction->in, reduction->count * reduction->size);
  RGI_TRY(reduce_tiny_sleeping(state, reduction));
  rgi_step_end(state);
  return RG_SUCCESS;
}

/* --- by chunks ----------------------------------------------------------------------- */

/* Member i's share of n elements is [share(i), share(i + 1)): all are the last member's where the
 * operation takes them whole. Shares begin with a cache line, where elements do: no two members
 * write to one line. */
static size_t share_begin(const rgi_shared_state *state, const rgi_node_coll_reduction *reduction,
                          size_t n, int i) {
  if (reduction->whole)
    return i < state->n ? 0 : n;
  size_t at = n * (size_t)i / (size_t)state->n,
         line = RGI_LINE % reduction->size ? 1 : RGI_LINE / reduction->size;
  return i < state->n ? at - at % line : n;
}

/* Combines the caller's share of all members' chunks, in the last member's chunk; in a scan in each
 * chunk what came before. */
static int combine_share(rgi_shared_state *state, const rgi_node_coll_reduction *reduction,
                         size_t n, uint32_t step) {
  size_t from = share_begin(state, reduction, n, state->me),
         count = share_begin(state, reduction, n, state->me + 1) - from,
         at = from * reduction->size, lines = RGI_LINES_COUNT_OF(count * reduction->size);
  int scans = reduction->root <= RGI_NODE_COLL_SCAN, last = state->n - 1;
  RGI_LINES_COUNT_READ((size_t)last * lines);
  RGI_LINES_COUNT_WRITTEN(scans ? (size_t)last * lines : state->me < last ? lines : 0);
  for (int k = 0; k < last && count > 0; k++) {
    int left = scans ? k : last - 1 - k, right = scans ? k + 1 : last;
    RGI_TRY(rgi_op_apply(rgi_step_chunk(state, left, step) + at,
                         rgi_step_chunk(state, right, step) + at, count, reduction->type,
                         reduction->op));
  }
  return RG_SUCCESS;
}

/* Elements [at, at + n). */
static int reduce_chunk(rgi_shared_state *state, const rgi_node_coll_reduction *reduction,
                        size_t at, size_t n) {
  int result = rgi_node_coll_last_operand(state, reduction); /* it is in that member's chunk */
  size_t bytes = n * reduction->size;
  RGI_TRY(rgi_step_begin(state, 1, reduction->call));
  uint32_t step = state->step;
  rgi_copy_block(rgi_step_chunk(state, state->me, step),
                 (const char *)reduction->in + at * reduction->size, bytes);
  RGI_TRY(rgi_step_barrier(state, reduction->call));
  RGI_TRY(rgi_step_check_all(state, step, reduction->call));
  RGI_TRY(combine_share(state, reduction, n, step));
  RGI_TRY(rgi_step_begin(state, 0, reduction->call));
  RGI_TRY(rgi_step_barrier(state, reduction->call));
  RGI_LINES_COUNT_READ(result >= 0 ? RGI_LINES_COUNT_OF(bytes) : 0);
  if (result >= 0)
    rgi_copy_block((char *)reduction->out + at * reduction->size,
                   rgi_step_chunk(state, result, step), bytes);
  rgi_step_end(state);
  return RG_SUCCESS;
}

/* As tiny vectors, one after another. */
static int reduce_by_cells(rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  size_t most = RGI_SHM_TINY / reduction->size;
  if (reduction->count <= most)
    return reduce_tiny(state, reduction);
  if (most == 0 || reduction->whole)
    return rgi_node_coll_reduce_elements(state, reduction);
  for (size_t i = 0; i < reduction->count; i += most) {
    rgi_node_coll_reduction part = *reduction;
    part.in = (const char *)reduction->in + i * reduction->size;
    part.out = reduction->out ? (char *)reduction->out + i * reduction->size : NULL;
    part.count = reduction->count - i < most ? reduction->count - i : most;
    RGI_TRY(reduce_tiny(state, &part));
  }
  return RG_SUCCESS;
}

static int reduce_by_chunks(rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  size_t most = RGI_SHM_CHUNK / reduction->size;
  if (most == 0)
    return rgi_node_coll_reduce_elements(state, reduction);
  for (size_t i = 0; i < reduction->count; i += most) {
    size_t n = reduction->count - i < most ? reduction->count - i : most;
    RGI_TRY(reduce_chunk(state, reduction, i, n));
  }
  return RG_SUCCESS;
}

static int run_reduce(rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  size_t bytes = reduction->count * reduction->size;
  rgi_way way = reduction->way;
  state->bytes = (uint32_t)bytes;
  if (bytes > RGI_SHM_TINY || way == RGI_WAY_CHUNKS)
    RGI_TRY(rgi_node_coll_attach(state, &way, bytes, 0, reduction->call));
  switch (way) {
  case RGI_WAY_LEVELS:
    return reduction->root <= RGI_NODE_COLL_SCAN ? rgi_node_coll_levels_scan(state, reduction)
                                                 : rgi_node_coll_levels_reduce(state, reduction);
  case RGI_WAY_ONCE:
    return combine_at_once(state, reduction);
  case RGI_WAY_CELLS:
    return reduce_by_cells(state, reduction);
  default:
    return reduce_by_chunks(state, reduction);
  }
}

int rgi_node_coll_reduce(rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  size_t bytes = reduction->count * reduction->size;
  if (bytes == 0)
    return RG_SUCCESS;
  if (state->n > 1)
    return rgi_step_result(state, run_reduce(state, reduction));
  if (reduction->in != reduction->out && rgi_node_coll_last_operand(state, reduction) == 0)
    rgi_copy_block(reduction->out, reduction->in, bytes);
  return RG_SUCCESS;
}
