/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of broadcast. Trees, chains and rings use ranks counted from the root (v), so
 * that the root is 0. */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"
#include "formation/binomial.h"

/* The pieces of the pipelined broadcast, and how many of them a member expects at once. */
#define SEGMENT ((size_t)64 << 10)
#define SEGMENTS_AHEAD 8

static int from_root(const rgi_subgroup *t, int root) {
  return (t->me - root + t->size) % t->size;
}

static int rank_of(const rgi_subgroup *t, int root, int v) {
  return (int)(((long long)v + root) % t->size);
}

static void bcast_linear(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  if (t->me != p->root)
    rgi_sched_receive(s, t, p->root, p->out, p->bytes);
  for (int i = 0; i < t->size && t->me == p->root; i++)
    if (i != p->root)
      rgi_sched_send(s, t, i, p->out, p->bytes);
}

static void bcast_binomial(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int child[RGI_BINOMIAL_CHILDREN], v = from_root(t, p->root), parent = rgi_binomial_parent(v);
  if (parent >= 0) {
    rgi_sched_receive(s, t, rank_of(t, p->root, parent), p->out, p->bytes);
    rgi_sched_end_round(s);
  }
  for (int i = rgi_binomial_children(v, t->size, child) - 1; i >= 0; i--)
    rgi_sched_send(s, t, rank_of(t, p->root, child[i]), p->out, p->bytes);
}

static size_t segment_at(const rgi_algorithm_args *p, size_t i) {
  return i * SEGMENT < p->bytes ? i * SEGMENT : p->bytes;
}

/* Along a chain, piece by piece: a member passes one piece on while it receives the next ones.
 * It posts several receives in advance, since a long message begins only when its receive is
 * posted. */
static void bcast_pipelined(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int v = from_root(t, p->root), last = v == t->size - 1, begun = 0, came[SEGMENTS_AHEAD];
  size_t pieces = p->bytes ? (p->bytes + SEGMENT - 1) / SEGMENT : 1, asked = 0;
  rgi_sched_end_round(s);
  for (size_t i = 0; i < pieces; i++) {
    for (; v > 0 && asked < pieces && asked < i + SEGMENTS_AHEAD; asked++) {
      rgi_sched_receive(s, t, rank_of(t, p->root, v - 1), p->out + segment_at(p, asked),
                        segment_at(p, asked + 1) - segment_at(p, asked));
      came[asked % SEGMENTS_AHEAD] = ++begun;
    }
    if (v > 0)
      rgi_sched_await_first(s, came[i % SEGMENTS_AHEAD]);
    if (!last)
      rgi_sched_send(s, t, rank_of(t, p->root, v + 1), p->out + segment_at(p, i),
                     segment_at(p, i + 1) - segment_at(p, i));
    begun += !last;
  }
}

/* Piece v of p of the buffer. */
static size_t piece_at(const rgi_algorithm_args *p, int pieces, long long v) {
  size_t each = (p->bytes + (size_t)pieces - 1) / (size_t)pieces, at = each * (size_t)v;
  return at < p->bytes ? at : p->bytes;
}

/* Scatter by recursive halving, where a child gets the pieces of its subtree; then allgather
 * round a ring. */
static void bcast_scatter_allgather(rgi_sched *s, const rgi_subgroup *t,
                                    const rgi_algorithm_args *p) {
  int child[RGI_BINOMIAL_CHILDREN], n = t->size, v = from_root(t, p->root);
  int parent = rgi_binomial_parent(v), children = rgi_binomial_children(v, n, child);
  long long end = v ? v + (v & -v) : n;
  size_t mine = piece_at(p, n, v), last = piece_at(p, n, end < n ? end : n);
  if (parent >= 0) {
    rgi_sched_receive(s, t, rank_of(t, p->root, parent), p->out + mine, last - mine);
    rgi_sched_end_round(s);
  }
  for (int i = children - 1; i >= 0; i--) {
    size_t begin = piece_at(p, n, child[i]);
    rgi_sched_send(s, t, rank_of(t, p->root, child[i]), p->out + begin, last - begin);
    last = begin;
  }
  rgi_sched_end_round(s);
  for (int k = 0; k < n - 1; k++) {
    int out = (v - k + n) % n, in = (v - k - 1 + n) % n;
    rgi_sched_send(s, t, rank_of(t, p->root, (v + 1) % n), p->out + piece_at(p, n, out),
                   piece_at(p, n, out + 1) - piece_at(p, n, out));
    rgi_sched_receive(s, t, rank_of(t, p->root, (v - 1 + n) % n), p->out + piece_at(p, n, in),
                      piece_at(p, n, in + 1) - piece_at(p, n, in));
    rgi_sched_end_round(s);
  }
}

/* One copy goes to each node. */
static void bcast_hierarchical(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  rgi_subgroup leaders = rgi_hier_leaders(s, p->root);
  rgi_algorithm_args between = *p;
  (void)t;
  between.root = s->coll->nodes.of[p->root];
  rgi_hier_between(s, RG_OP_BCAST, &leaders, &between);
  rgi_hier_node_bcast(s, RG_OP_BCAST, p->out, p->bytes, rgi_hier_leader_local_rank(s, &leaders));
}

static void bcast_shared(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  (void)t;
  rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_SHM_BCAST, p->root, p->out, NULL, p->bytes});
}

static double bcast_binomial_cost(const rgi_cost_params *l) {
  return rgi_cost_lg(l->p) * (l->ts + l->n * l->tw);
}

static double bcast_pipelined_cost(const rgi_cost_params *l) {
  double k = l->n > (double)SEGMENT ? l->n / (double)SEGMENT : 1;
  return l->p > 1 ? (l->p - 2 + k) * (l->ts + l->n / k * l->tw) : 0;
}

static double bcast_scatter_allgather_cost(const rgi_cost_params *l) {
  return (rgi_cost_lg(l->p) + l->p - 1) * l->ts + 2 * (l->p - 1) / l->p * l->n * l->tw;
}

static double bcast_shared_cost(const rgi_cost_params *l) {
  return rgi_cost_lg(l->p) * l->ts + 2 * l->n * l->tw;
}

const rgi_algorithm rgi_algorithms_bcast[] = {
    {"linear", bcast_linear, 0, RGI_COST_BLOCKS},
    {"binomial", bcast_binomial, 0, bcast_binomial_cost, "lg p (t_s + n t_w)"},
    {"pipelined", bcast_pipelined, 0, bcast_pipelined_cost,
     "(p - 2 + k) (t_s + n/k t_w), k = n / 64 KiB"},
    {"scatter-allgather", bcast_scatter_allgather, 0, bcast_scatter_allgather_cost,
     "(lg p + p - 1) t_s + 2 (p - 1)/p n t_w"},
    {"hierarchical", bcast_hierarchical, RGI_ALGORITHM_NODES, NULL,
     "between nodes + inside the node"},
    {"shared", bcast_shared, RGI_ALGORITHM_ONE_NODE, bcast_shared_cost, "lg p t_s + 2 n t_w"},
    {0}};
