/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Broadcast. Ranks are counted from the root. */
#include "base/error.h"
#include "collectives/call.h"
#include "collectives/hierarchy.h"
#include "collectives/straight.h"
#include "formation/tree.h"

/* The pipelined one's pieces. */
#define SEGMENT ((size_t)64 << 10)
/* So many of them are expected at once. */
#define AHEAD 8

static int from_root(const rgi_team *t, int root) {
  return (t->me - root + t->size) % t->size;
}

static int rank_of(const rgi_team *t, int root, int v) {
  return (int)(((long long)v + root) % t->size);
}

static void linear(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  if (t->me != p->root)
    rgi_receive(s, t, p->root, p->out, p->bytes);
  for (int i = 0; i < t->size && t->me == p->root; i++)
    if (i != p->root)
      rgi_send(s, t, i, p->out, p->bytes);
}

static void binomial(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  int child[RGI_TREE_CHILDREN], v = from_root(t, p->root), parent = rgi_tree_parent(v);
  if (parent >= 0) {
    rgi_receive(s, t, rank_of(t, p->root, parent), p->out, p->bytes);
    rgi_round(s);
  }
  for (int i = rgi_tree_children(v, t->size, child) - 1; i >= 0; i--)
    rgi_send(s, t, rank_of(t, p->root, child[i]), p->out, p->bytes);
}

static size_t segment_at(const rgi_problem *p, size_t i) {
  return i * SEGMENT < p->bytes ? i * SEGMENT : p->bytes;
}

/* Along a chain, piece by piece: while one is passed on the next ones come. Some are
 * expected in advance: a long message begins only when somebody asks for it. */
static void pipelined(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  int v = from_root(t, p->root), last = v == t->size - 1, begun = 0, came[AHEAD];
  size_t pieces = p->bytes ? (p->bytes + SEGMENT - 1) / SEGMENT : 1, asked = 0;
  rgi_round(s);
  for (size_t i = 0; i < pieces; i++) {
    for (; v > 0 && asked < pieces && asked < i + AHEAD; asked++) {
      rgi_receive(s, t, rank_of(t, p->root, v - 1), p->out + segment_at(p, asked),
                  segment_at(p, asked + 1) - segment_at(p, asked));
      came[asked % AHEAD] = ++begun;
    }
    if (v > 0)
      rgi_first_of_round(s, came[i % AHEAD]);
    if (!last)
      rgi_send(s, t, rank_of(t, p->root, v + 1), p->out + segment_at(p, i),
               segment_at(p, i + 1) - segment_at(p, i));
    begun += !last;
  }
}

/* Piece v of p of the buffer. */
static size_t piece_at(const rgi_problem *p, int pieces, long long v) {
  size_t each = (p->bytes + (size_t)pieces - 1) / (size_t)pieces, at = each * (size_t)v;
  return at < p->bytes ? at : p->bytes;
}

/* Halving: a child gets the pieces of its subtree. Then the pieces go around. */
static void scatter_allgather(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  int child[RGI_TREE_CHILDREN], n = t->size, v = from_root(t, p->root);
  int parent = rgi_tree_parent(v), children = rgi_tree_children(v, n, child);
  long long end = v ? v + (v & -v) : n;
  size_t mine = piece_at(p, n, v), last = piece_at(p, n, end < n ? end : n);
  if (parent >= 0) {
    rgi_receive(s, t, rank_of(t, p->root, parent), p->out + mine, last - mine);
    rgi_round(s);
  }
  for (int i = children - 1; i >= 0; i--) {
    size_t begin = piece_at(p, n, child[i]);
    rgi_send(s, t, rank_of(t, p->root, child[i]), p->out + begin, last - begin);
    last = begin;
  }
  rgi_round(s);
  for (int k = 0; k < n - 1; k++) {
    int out = (v - k + n) % n, in = (v - k - 1 + n) % n;
    rgi_send(s, t, rank_of(t, p->root, (v + 1) % n), p->out + piece_at(p, n, out),
             piece_at(p, n, out + 1) - piece_at(p, n, out));
    rgi_receive(s, t, rank_of(t, p->root, (v - 1 + n) % n), p->out + piece_at(p, n, in),
                piece_at(p, n, in + 1) - piece_at(p, n, in));
    rgi_round(s);
  }
}

/* One copy comes to each node. */
static void hierarchical(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_team speakers = rgi_speakers(s, p->root);
  rgi_problem between = *p;
  (void)t;
  between.root = s->state->nodes.of[p->root];
  rgi_between(s, RG_OP_BCAST, &speakers, &between);
  rgi_node_bcast(s, RG_OP_BCAST, p->out, p->bytes, rgi_speaker_place(s, &speakers));
}

static void shared(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  (void)t;
  rgi_inside(s, RGI_INSIDE_BCAST, p->root, NULL, p->out, p->bytes);
}

static double binomial_cost(const rgi_load *l) {
  return rgi_lg(l->p) * (l->ts + l->n * l->tw);
}

static double pipelined_cost(const rgi_load *l) {
  double k = l->n > (double)SEGMENT ? l->n / (double)SEGMENT : 1;
  return l->p > 1 ? (l->p - 2 + k) * (l->ts + l->n / k * l->tw) : 0;
}

static double scatter_allgather_cost(const rgi_load *l) {
  return (rgi_lg(l->p) + l->p - 1) * l->ts + 2 * (l->p - 1) / l->p * l->n * l->tw;
}

static double shared_cost(const rgi_load *l) {
  return rgi_lg(l->p) * l->ts + 2 * l->n * l->tw;
}

const rgi_algorithm rgi_bcast_algorithms[] = {
    {"linear", linear, 0, RGI_BLOCK_COST},
    {"binomial", binomial, 0, binomial_cost, "lg p (t_s + n t_w)"},
    {"pipelined", pipelined, 0, pipelined_cost, "(p - 2 + k) (t_s + n/k t_w), k = n / 64 KiB"},
    {"scatter-allgather", scatter_allgather, 0, scatter_allgather_cost,
     "(lg p + p - 1) t_s + 2 (p - 1)/p n t_w"},
    {"hierarchical", hierarchical, RGI_NODES, NULL, "between nodes + inside the node"},
    {"shared", shared, RGI_ONE_NODE | RGI_BEST, shared_cost, "lg p t_s + 2 n t_w"},
    {0}};

static rgi_call bcast_call(const char *name, rg_group g, void *buffer, MPI_Count count,
                           MPI_Datatype type, int root) {
  return (rgi_call){.operation = RG_OP_BCAST,
                    .name = name,
                    .group = g,
                    .root = root,
                    .recv = buffer,
                    .recv_count = count,
                    .recv_type = type};
}

int rg_bcast(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root) {
  size_t size = rgi_basic_size(type);
  rgi_local *l = rgi_straight(g, count, buffer, size, root);
  if (l)
    return rgi_local_bcast(l, buffer, (size_t)count * size, root, __func__);
  rgi_call c = bcast_call(__func__, g, buffer, count, type, root);
  return rgi_call_run(&c, NULL);
}

int rg_ibcast(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root,
              rg_request *request) {
  rgi_call c = bcast_call(__func__, g, buffer, count, type, root);
  return RGI_START(c, request);
}
