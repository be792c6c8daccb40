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
#include "collectives/reduction/op_apply.h"
#include "collectives/reduction/op_check.h"
#include "collectives/shared/lines_count.h"

/* Every level copies the data once more, and a leader combines whole vectors: longer ones are
 * faster when all members share the work. */
#define CARRY_MOST ((size_t)8 << 10)
#define COMBINE_MOST ((size_t)1 << 10)
_Static_assert(CARRY_MOST <= RGI_SHM_SMALL && COMBINE_MOST <= RGI_SHM_SMALL,
               "a step in which not all have read may use short chunks only");

static int fits(const rgi_shared_state *l, size_t bytes, size_t most) {
  return bytes <= RGI_SHM_TINY || (l->buffer && bytes <= most);
}

int rgi_node_coll_levels_carry(const rgi_shared_state *l, size_t bytes) {
  return l->levels && fits(l, bytes, CARRY_MOST);
}

int rgi_node_coll_levels_combine(const rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  return l->levels && fits(l, r->count * r->size, COMBINE_MOST) && !rgi_op_is_users(r->op);
}

static void give(rgi_shared_state *l, const void *data, size_t bytes) {
  rgi_copy_block(rgi_step_data(l, l->me, bytes), data, bytes);
  rgi_step_publish(l, NULL, 0);
}

static int await(rgi_shared_state *l, int i, size_t bytes, const char *call) {
  RGI_TRY(rgi_step_await_member(l, i, call));
  RGI_TRY(rgi_step_check_length(l, i, l->step, call));
  RGI_LINES_COUNT_READ(bytes <= RGI_SHM_TINY ? 0 : RGI_LINES_COUNT_OF(bytes));
  return RG_SUCCESS;
}

static int take(rgi_shared_state *l, int i, void *data, size_t bytes, const char *call) {
  RGI_TRY(await(l, i, bytes, call));
  rgi_copy_block(data, rgi_step_data(l, i, bytes), bytes);
  return RG_SUCCESS;
}

/* A step in which `from` gives to `to`; the others do nothing. */
static int hand_on(rgi_shared_state *l, int from, int to, void *data, size_t bytes,
                   const char *call) {
  RGI_TRY(rgi_step_begin_unread(l, call));
  if (l->me == from) {
    give(l, data, bytes);
    rgi_step_give_to(l, to);
  }
  return l->me == to ? take(l, from, data, bytes, call) : RG_SUCCESS;
}

/* The step down. has: the caller has the data. */
static int spread(rgi_shared_state *l, int has, void *data, size_t bytes, const char *call) {
  RGI_TRY(l->levels->children ? rgi_step_begin_near(l, call) : rgi_step_begin_unread(l, call));
  if (!has)
    RGI_TRY(take(l, l->levels->parent, data, bytes, call));
  if (l->levels->children)
    give(l, data, bytes);
  return RG_SUCCESS;
}

int rgi_node_coll_levels_bcast(rgi_shared_state *l, void *data, size_t bytes, int root,
                               const char *call) {
  if (root != 0)
    RGI_TRY(hand_on(l, root, 0, data, bytes, call));
  RGI_TRY(spread(l, l->me == 0 || l->me == root, data, bytes, call));
  rgi_step_end(l);
  return RG_SUCCESS;
}

/* The step up. Children are combined in ascending order, so the bits depend on the levels alone. */
static int gather_up(rgi_shared_state *l, const rgi_node_coll_reduction *r, char tiny[RGI_SHM_TINY],
                     char **result) {
  size_t bytes = r->count * r->size;
  RGI_TRY(rgi_step_begin_near(l, r->call));
  *result = bytes <= RGI_SHM_TINY ? tiny : rgi_step_data(l, l->me, bytes);
  memcpy(*result, r->in, bytes);
  for (int k = 0; k < l->levels->children; k++) {
    int child = l->levels->child[k];
    RGI_TRY(await(l, child, bytes, r->call));
    RGI_TRY(rgi_op_apply(rgi_step_data(l, child, bytes), *result, r->count, r->type, r->op));
  }
  rgi_step_publish(l, tiny, bytes <= RGI_SHM_TINY ? bytes : 0);
  return RG_SUCCESS;
}

int rgi_node_coll_levels_reduce(rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  _Alignas(16) char tiny[RGI_SHM_TINY];
  size_t bytes = r->count * r->size;
  char *result, *out = r->out;
  RGI_TRY(gather_up(l, r, tiny, &result));
  if (l->me == 0)
    rgi_step_mark_all_seen(l);
  if (l->me == 0 && r->root <= 0)
    memcpy(out, result, bytes);
  if (r->root < 0)
    RGI_TRY(spread(l, l->me == 0, out, bytes, r->call));
  if (r->root < 0)
    rgi_step_mark_all_seen(l);
  if (r->root > 0)
    RGI_TRY(hand_on(l, 0, r->root, l->me == 0 ? result : out, bytes, r->call));
  rgi_step_end(l);
  return RG_SUCCESS;
}

/* --- scans ------------------------------------------------------------------------------ */

int rgi_node_coll_levels_combine_first(const rgi_shared_state *l,
                                       const rgi_node_coll_reduction *r) {
  return l->levels && fits(l, r->count * r->size, COMBINE_MOST);
}

/* What a member has combined so far: all: the operands from some member up to its own; before: the
 * same without its own, once there are any. */
typedef struct {
  char *all, *before;
} partial;

/* Combines what member i has given into the caller's. `first`: nothing was before. */
static int take_partial(rgi_shared_state *l, const rgi_node_coll_reduction *r, int i,
                        const partial *p, int first) {
  size_t bytes = r->count * r->size;
  RGI_TRY(await(l, i, bytes, r->call));
  const char *theirs = rgi_step_data(l, i, bytes);
  if (p->before && first)
    memcpy(p->before, theirs, bytes);
  else if (p->before)
    RGI_TRY(rgi_op_apply(theirs, p->before, r->count, r->type, r->op));
  return rgi_op_apply(theirs, p->all, r->count, r->type, r->op);
}

/* Each step is ended, since there may be more of them than cells. */
int rgi_node_coll_levels_scan(rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  _Alignas(16) char sum[COMBINE_MOST];
  size_t bytes = r->count * r->size;
  int is_scan = r->root == RGI_NODE_COLL_SCAN;
  partial p = {is_scan ? r->out : sum, is_scan ? NULL : r->out};
  memmove(p.all, r->in, bytes);
  for (int d = 1; d < l->n; d *= 2) {
    RGI_TRY(rgi_step_begin_unread(l, r->call));
    if (d < l->n - l->me) {
      give(l, p.all, bytes);
      rgi_step_give_to(l, l->me + d);
    }
    if (l->me >= d)
      RGI_TRY(take_partial(l, r, l->me - d, &p, d == 1));
    rgi_step_end(l);
  }
  return RG_SUCCESS;
}
