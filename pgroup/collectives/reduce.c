/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reduce. */
#include "base/error.h"
#include "collectives/call.h"
#include "collectives/fold.h"
#include "collectives/hierarchy.h"
#include "collectives/straight.h"
#include "formation/tree.h"

/* The root takes the operands from the last rank to the first, the next one
 * coming in while one is combined. */
static void linear(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  int last = t->size - 1;
  if (t->me != p->root) {
    rgi_send(s, t, p->root, p->in, p->bytes);
    return;
  }
  char *room[2] = {rgi_room_of(s, p->bytes), rgi_room_of(s, p->bytes)};
  const char *own = p->in;
  if (p->in == p->out && p->root != last) {
    char *copy = rgi_room_of(s, p->bytes);
    rgi_copy(s, copy, p->in, p->bytes);
    own = copy;
  }
  if (last == p->root)
    rgi_copy(s, p->out, own, p->bytes);
  else
    rgi_receive(s, t, last, p->out, p->bytes);
  for (int i = last - 1; i >= -1; i--) {
    rgi_round(s); /* what was begun is here: rank i + 1's */
    if (i >= 0 && i != p->root)
      rgi_receive(s, t, i, room[i % 2], p->bytes);
    if (i + 1 < last)
      rgi_right(s, i + 1 == p->root ? own : room[(i + 1) % 2], p->out, p->bytes);
  }
}

/* Up a binomial tree that has its root at the root or, where the order of ranks
 * matters, at rank 0, which hands the result on. */
static void tree(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  int top = s->reduction.commutes ? p->root : 0, n = t->size, v = (t->me - top + n) % n;
  int child[RGI_TREE_CHILDREN], children = rgi_tree_children(v, n, child);
  int parent = rgi_tree_parent(v);
  const char *result = p->in;
  if (children) {
    char *acc = t->me == p->root ? p->out : rgi_room_of(s, p->bytes);
    char *room = rgi_room_of(s, p->bytes);
    rgi_copy(s, acc, p->in, p->bytes);
    for (int i = 0; i < children; i++) {
      rgi_receive(s, t, (child[i] + top) % n, room, p->bytes);
      rgi_round(s);
      rgi_left(s, acc, room, p->bytes);
    }
    result = acc;
  }
  if (parent >= 0)
    rgi_send(s, t, (parent + top) % n, result, p->bytes);
  rgi_round(s);
  if (t->me == top && top != p->root)
    rgi_send(s, t, p->root, result, p->bytes);
  else if (t->me == p->root && top != p->root)
    rgi_receive(s, t, top, p->out, p->bytes);
  else if (t->me == p->root)
    rgi_copy(s, p->out, result, p->bytes);
}

/* Reduce-scatter, then the parts are gathered on the way back. */
static void rabenseifner(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_fold f = rgi_fold_of(t, p->root);
  rgi_part part[RGI_HALVINGS];
  size_t unit = s->reduction.typed.size, units = unit ? p->bytes / unit : 0;
  char *acc = t->me == p->root ? p->out : rgi_room_of(s, p->bytes);
  char *room = rgi_room_of(s, p->bytes);
  int root = rgi_fold_number(&f, p->root), k = 0;
  rgi_copy(s, acc, p->in, p->bytes);
  rgi_fold_in(s, t, &f, acc, room, p->bytes);
  if (f.me < 0)
    return;
  rgi_halve(s, t, &f, acc, room, units, unit, NULL, part);
  while (1 << k < f.size)
    k++;
  while (k-- > 0) {
    int other = rgi_fold_rank(&f, f.me ^ 1 << k);
    if ((f.me ^ root) & 1 << k) {
      rgi_send(s, t, other, acc + part[k + 1].low * unit,
               (part[k + 1].high - part[k + 1].low) * unit);
      return;
    }
    rgi_part theirs = rgi_other_half(part, k);
    rgi_receive(s, t, other, acc + theirs.low * unit, (theirs.high - theirs.low) * unit);
    rgi_round(s);
  }
}

static void hierarchical(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_team speakers = rgi_speakers(s, p->root);
  int speaks = speakers.me >= 0, place = rgi_speaker_place(s, &speakers);
  char *sum = t->me == p->root ? p->out : speaks ? rgi_room_of(s, p->bytes) : NULL;
  rgi_problem between = *p;
  rgi_node_reduce(s, RG_OP_REDUCE, p->in, sum, p->bytes, place);
  between.in = sum;
  between.root = s->state->nodes.of[p->root];
  rgi_between(s, RG_OP_REDUCE, &speakers, &between);
}

static void shared(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  (void)t;
  rgi_inside(s, RGI_INSIDE_REDUCE, p->root, p->in, p->out, p->bytes);
}

const rgi_algorithm rgi_reduce_algorithms[] = {
    {"linear", linear, 0, RGI_FOLD_COST},
    {"tree", tree, 0, RGI_FOLD_TREE_COST},
    {"rabenseifner", rabenseifner, 0, RGI_RABENSEIFNER_COST},
    {"hierarchical", hierarchical, RGI_NODES, NULL, "inside the node + between nodes"},
    {"shared", shared, RGI_ONE_NODE | RGI_BEST, RGI_SHARED_FOLD_COST},
    {0}};

int rg_reduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
              MPI_Op op, int root) {
  rgi_local *l = rgi_straight_reduction(g, send, recv, count, type, op, root);
  if (l)
    return rgi_local_reduce(l, send, recv, (size_t)count, type, op, root, __func__);
  rgi_call c = rgi_fold_call(RG_OP_REDUCE, __func__, g, send, recv, count, type, op, root);
  return rgi_call_run(&c, NULL);
}

int rg_ireduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
               MPI_Op op, int root, rg_request *request) {
  rgi_call c = rgi_fold_call(RG_OP_REDUCE, __func__, g, send, recv, count, type, op, root);
  return RGI_START(c, request);
}
