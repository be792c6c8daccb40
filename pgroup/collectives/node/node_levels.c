/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Small broadcasts and reductions by levels. The first member of all is the root of the tree. A
 * reduction goes up in one step: a member combines its children's results with its own operand and
 * gives that to its parent. A result, or the data of a broadcast, comes down in the next step: a
 * member takes it from its parent and gives a copy to its children. An operation's root that is not
 * the first member exchanges with that one in a step between. So all members combine or get the
 * same bits. A scan takes a step for each power of two, in which a member reads what the one so
 * many places before it has. */
#include "collectives/node/node_coll.h"

#include <string.h>

#include "base/copy.h"
#include "base/error.h"
#include "collectives/node/step.h"
#include "collectives/reduction/op.h"
#include "collectives/shared/lines_count.h"

_Static_assert(RGI_NODE_COLL_LEVELS_MOST <= RGI_SHM_SMALL,
               "a step in which not all have read may use short chunks only");

static void give(rgi_shared_state *state, const void *data, size_t bytes) {
  rgi_copy_block(rgi_step_data(state, state->me, bytes), data, bytes);
  rgi_step_publish(state, NULL, 0);
}

static int await(rgi_shared_state *state, int i, size_t bytes, const char *call) {
  RGI_TRY(rgi_step_await_member(state, i, call));
  RGI_TRY(rgi_step_check_length(state, i, state->step, call));
  RGI_LINES_COUNT_READ(bytes <= RGI_SHM_TINY ? 0 : RGI_LINES_COUNT_OF(bytes));
  return RG_SUCCESS;
}

static int take(rgi_shared_state *state, int i, void *data, size_t bytes, const char *call) {
  RGI_TRY(await(state, i, bytes, call));
  rgi_copy_block(data, rgi_step_data(state, i, bytes), bytes);
  return RG_SUCCESS;
}

/* A step in which `from` gives to `to`; the others do nothing. */
static int hand_on(rgi_shared_state *state, int from, int to, void *data, size_t bytes,
                   const char *call) {
  RGI_TRY(rgi_step_begin_unread(state, call));
  if (state->me == from) {
    give(state, data, bytes);
    rgi_step_give_to(state, to);
  }
  return state->me == to ? take(state, from, data, bytes, call) : RG_SUCCESS;
}

/* The step down. has: the caller has the data. */
static int spread(rgi_shared_state *state, int has, void *data, size_t bytes, const char *call) {
  RGI_TRY(state->levels->children ? rgi_step_begin_near(state, call)
                                  : rgi_step_begin_unread(state, call));
  if (!has)
    RGI_TRY(take(state, state->levels->parent, data, bytes, call));
  if (state->levels->children)
    give(state, data, bytes);
  return RG_SUCCESS;
}

int rgi_node_coll_levels_bcast(rgi_shared_state *state, void *data, size_t bytes, int root,
                               const char *call) {
  if (root != 0)
    RGI_TRY(hand_on(state, root, 0, data, bytes, call));
  RGI_TRY(spread(state, state->me == 0 || state->me == root, data, bytes, call));
  rgi_step_end(state);
  return RG_SUCCESS;
}

/* The step up. Children are combined in ascending order, so the bits depend on the levels alone. */
static int gather_up(rgi_shared_state *state, const rgi_node_coll_reduction *reduction,
                     char tiny[RGI_SHM_TINY], char **result) {
  size_t bytes = reduction->count * reduction->size;
  RGI_TRY(rgi_step_begin_near(state, reduction->call));
  *result = bytes <= RGI_SHM_TINY ? tiny : rgi_step_data(state, state->me, bytes);
  memcpy(*result, reduction->in, bytes);
  for (int k = 0; k < state->levels->children; k++) {
    int child = state->levels->child[k];
    RGI_TRY(await(state, child, bytes, reduction->call));
    RGI_TRY(rgi_op_apply(rgi_step_data(state, child, bytes), *result, reduction->count,
                         reduction->type, reduction->op));
  }
  rgi_step_publish(state, tiny, bytes <= RGI_SHM_TINY ? bytes : 0);
  return RG_SUCCESS;
}

int rgi_node_coll_levels_reduce(rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  _Alignas(16) char tiny[RGI_SHM_TINY];
  size_t bytes = reduction->count * reduction->size;
  char *result, *out = reduction->out;
  RGI_TRY(gather_up(state, reduction, tiny, &result));
  if (state->me == 0)
    rgi_step_mark_all_seen(state);
  if (state->me == 0 && reduction->root <= 0)
    memcpy(out, result, bytes);
  if (reduction->root < 0)
    RGI_TRY(spread(state, state->me == 0, out, bytes, reduction->call));
  if (reduction->root < 0)
    rgi_step_mark_all_seen(state);
  if (reduction->root > 0)
    RGI_TRY(
        hand_on(state, 0, reduction->root, state->me == 0 ? result : out, bytes, reduction->call));
  rgi_step_end(state);
  return RG_SUCCESS;
}

/* --- scans ------------------------------------------------------------------------------ */

/* What a member has combined so far: all: the operands from some member up to its own; before: the
 * same without its own, once there are any. */
typedef struct {
  char *all, *before;
} partial;

/* Combines what member i has given into the caller's. `first`: nothing was before. */
static int take_partial(rgi_shared_state *state, const rgi_node_coll_reduction *reduction, int i,
                        const partial *partial, int first) {
  size_t bytes = reduction->count * reduction->size;
  RGI_TRY(await(state, i, bytes, reduction->call));
  const char *theirs = rgi_step_data(state, i, bytes);
  if (partial->before && first)
    memcpy(partial->before, theirs, bytes);
  else if (partial->before)
    RGI_TRY(
        rgi_op_apply(theirs, partial->before, reduction->count, reduction->type, reduction->op));
  return rgi_op_apply(theirs, partial->all, reduction->count, reduction->type, reduction->op);
}

/* Each step is ended, since there may be more of them than cells. */
int rgi_node_coll_levels_scan(rgi_shared_state *state, const rgi_node_coll_reduction *reduction) {
  _Alignas(16) char sum[RGI_NODE_COLL_LEVELS_MOST];
  size_t bytes = reduction->count * reduction->size;
  int is_scan = reduction->root == RGI_NODE_COLL_SCAN;
  partial p = {is_scan ? reduction->out : sum, is_scan ? NULL : reduction->out};
  memmove(p.all, reduction->in, bytes);
  for (int d = 1; d < state->n; d *= 2) {
    RGI_TRY(rgi_step_begin_unread(state, reduction->call));
    if (d < state->n - state->me) {
      give(state, p.all, bytes);
      rgi_step_give_to(state, state->me + d);
    }
    if (state->me >= d)
      RGI_TRY(take_partial(state, reduction, state->me - d, &p, d == 1));
    rgi_step_end(state);
  }
  return RG_SUCCESS;
}
