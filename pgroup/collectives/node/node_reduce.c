/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reductions and scans inside a node.
 *
 * Tiny vectors take one step: every member publishes its operands in its cell and combines the
 * cells that it needs; where processors are short the last member to arrive combines them for all,
 * but not in a scan. A short vector for a root, or for a scan, takes one step, too: every member
 * copies its operands into the shared buffer, and those that get a result combine what they need.
 * Longer ones and those for all go chunk by chunk, in two steps each: every member copies its
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

/* Up to so many bytes it takes the root less time to combine all operands than it takes all members
 * to meet twice. Where the others run beside the root they would share the work, and it reads
 * the lines of all of them: there the limit falls by their number squared, from 16 KiB on. In a
 * scan all members read the lines of many others. */
#define AT_ROOT_MOST ((size_t)8 << 10)
#define AT_ROOT_SPINNING ((size_t)16 << 10)
#define SCAN_MOST ((size_t)4 << 10)
#define SCAN_MOST_SLEEPING ((size_t)32 << 10)

static int is_at_once(const rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  size_t bytes = reduction->count * reduction->size, others = (size_t)state->n - 1;
  if (reduction->root == RGI_NODE_COLL_ALL)
    return 0;
  if (reduction->root < 0)
    return bytes <= (rgi_step_can_spin() ? SCAN_MOST : SCAN_MOST_SLEEPING) / others;
  return bytes <= AT_ROOT_MOST &&
         (!rgi_step_can_spin() || bytes <= AT_ROOT_SPINNING / (others * others));
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
  int scans = reduction->root <= RGI_NODE_COLL_SCAN;
  if (state->levels && scans)
    return rgi_node_coll_levels_scan(state, reduction);
  if (state->levels && rgi_node_coll_levels_combine(state, reduction))
    return rgi_node_coll_levels_reduce(state, reduction);
  if (rgi_step_can_spin() || scans)
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

/* Without the shared buffer: as tiny vectors, one after another. */
static int reduce_by_cells(rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  size_t most = RGI_SHM_TINY / reduction->size;
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
  RGI_TRY(rgi_step_attach_buffer(state, reduction->count * reduction->size, reduction->call));
  if (!state->buffer)
    return reduce_by_cells(state, reduction);
  if (most == 0)
    return rgi_node_coll_reduce_elements(state, reduction);
  if (reduction->root <= RGI_NODE_COLL_SCAN && rgi_node_coll_levels_combine_first(state, reduction))
    return rgi_node_coll_levels_scan(state, reduction);
  if (reduction->root > RGI_NODE_COLL_SCAN && rgi_node_coll_levels_combine(state, reduction))
    return rgi_node_coll_levels_reduce(state, reduction);
  if (is_at_once(state, reduction))
    return combine_at_once(state, reduction);
  for (size_t i = 0; i < reduction->count; i += most) {
    size_t n = reduction->count - i < most ? reduction->count - i : most;
    RGI_TRY(reduce_chunk(state, reduction, i, n));
  }
  return RG_SUCCESS;
}

int rgi_node_coll_reduce(rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  size_t bytes = reduction->count * reduction->size;
  if (bytes == 0)
    return RG_SUCCESS;
  if (state->n == 1) {
    if (reduction->in != reduction->out && rgi_node_coll_last_operand(state, reduction) == 0)
      rgi_copy_block(reduction->out, reduction->in, bytes);
    return RG_SUCCESS;
  }
  state->bytes = (uint32_t)bytes;
  return rgi_step_result(state, bytes <= RGI_SHM_TINY ? reduce_tiny(state, reduction)
                                                      : reduce_by_chunks(state, reduction));
}
