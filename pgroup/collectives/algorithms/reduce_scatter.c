/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of reduce-scatter; all of them take blocks of different
 * sizes. The hierarchical one reduces on each node, reduce-scatters the nodes'
 * blocks between the leaders and scatters them on each node. */
#include "collectives/algorithms/choice.h"
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"
#include "collectives/schedule/fold.h"

static size_t all_bytes(const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int last = t->size - 1;
  return rgi_blocks_at(&p->in_blocks, last) + rgi_blocks_length(&p->in_blocks, last);
}

/* Reduce to rank 0, scatter from there. */
static void reduce_scatter_tree(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  size_t bytes = all_bytes(t, p);
  char *sum = t->me == 0 ? rgi_sched_alloc(s, bytes) : NULL;
  rgi_algorithm_args reduce = {.in = p->in, .out = sum, .bytes = bytes};
  rgi_algorithm_args scatter = {
      .in = sum, .in_blocks = p->in_blocks, .out = p->out, .bytes = p->bytes};
  rgi_algorithms_reduce[1].build(s, t, &reduce);
  rgi_sched_end_round(s);
  rgi_algorithms_scatterv[0].build(s, t, &scatter);
}

/* The ranks whose blocks a new number stands for: its own, and that of its pair. */
static rgi_fold_range ranks_of(const rgi_fold *f, int number) {
  if (number < f->extra)
    return (rgi_fold_range){2 * (size_t)number, 2 * (size_t)number + 2};
  size_t rank = (size_t)number + (size_t)f->extra;
  return (rgi_fold_range){rank, rank + 1};
}

static int reversed_bits(int number, int size) {
  int r = 0;
  for (int bit = 1; bit < size; bit *= 2, number /= 2)
    r = 2 * r + number % 2;
  return r;
}

static size_t block_offset(const rgi_subgroup *t, const rgi_algorithm_args *p, size_t rank) {
  return (int)rank < t->size ? rgi_blocks_at(&p->in_blocks, (int)rank) : all_bytes(t, p);
}

/* Recursive halving. Neighbours are partners first, which keeps operands in order. So number i
 * ends with the part whose place is i with its bits reversed: the blocks are copied to such
 * places at the start. */
static void reduce_scatter_halving(rgi_sched *s, const rgi_subgroup *t,
                                   const rgi_algorithm_args *p) {
  rgi_fold f = rgi_fold_of(t, -1);
  rgi_fold_range part[RGI_FOLD_HALVINGS];
  size_t bytes = all_bytes(t, p), *at = rgi_sched_alloc(s, ((size_t)f.size + 1) * sizeof *at),
         end = 0;
  char *acc = rgi_sched_alloc(s, bytes);
  rgi_fold_vector v = rgi_fold_vector_of(s, acc, bytes);
  if (s->error)
    return;
  for (int place = 0; place < f.size; place++) {
    rgi_fold_range ranks = ranks_of(&f, reversed_bits(place, f.size));
    size_t from = block_offset(t, p, ranks.low), length = block_offset(t, p, ranks.high) - from;
    rgi_sched_copy(s, acc + end, p->in + from, length);
    at[place] = end;
    end += length;
  }
  at[f.size] = end;
  rgi_fold_in(s, t, &f, &v);
  if (f.me < 0) { /* its partner has the block */
    rgi_sched_receive(s, t, t->me ^ 1, p->out, p->bytes);
    return;
  }
  v.units = (size_t)f.size;
  v.at = at;
  rgi_fold_reduce_scatter(s, t, &f, &v, part);
  char *result = acc + at[reversed_bits(f.me, f.size)];
  if (f.me < f.extra) { /* it holds the blocks of both: its own is the second */
    size_t first = rgi_blocks_length(&p->in_blocks, t->me ^ 1);
    rgi_sched_send(s, t, t->me ^ 1, result, first);
    result += first;
  }
  rgi_sched_copy(s, p->out, result, p->bytes);
}

/* A block starts at the rank after its owner and goes round the ring, where every member
 * adds its operand. */
static void reduce_scatter_ring(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int n = t->size;
  size_t bytes = all_bytes(t, p), most = 0;
  for (int i = 0; i < n; i++)
    if (rgi_blocks_length(&p->in_blocks, i) > most)
      most = rgi_blocks_length(&p->in_blocks, i);
  char *acc = rgi_sched_alloc(s, bytes), *room = rgi_sched_alloc(s, most);
  rgi_sched_copy(s, acc, p->in, bytes);
  for (int k = 0; k < n - 1; k++) {
    int out = (t->me - 1 - k + 2 * n) % n, in = (t->me - 2 - k + 2 * n) % n;
    rgi_sched_send(s, t, (t->me + 1) % n, acc + rgi_blocks_at(&p->in_blocks, out),
                   rgi_blocks_length(&p->in_blocks, out));
    rgi_sched_receive(s, t, (t->me - 1 + n) % n, room, rgi_blocks_length(&p->in_blocks, in));
    rgi_sched_end_round(s);
    rgi_sched_reduce_left(s, acc + rgi_blocks_at(&p->in_blocks, in), room,
                          rgi_blocks_length(&p->in_blocks, in));
  }
  rgi_sched_copy(s, p->out, acc + rgi_blocks_at(&p->in_blocks, t->me), p->bytes);
}

/* Blocks in the order of nodes: where each node's begin, and those of the members on the
 * caller's node. */
typedef struct {
  rgi_blocks nodes, members;
} blocks_by_node;

static blocks_by_node order_by_node(rgi_sched *s, const rgi_algorithm_args *p) {
  const rgi_coll_nodes *n = &s->coll->nodes;
  int mine = rgi_hier_node_size(s, n->mine);
  size_t *at = rgi_sched_alloc(s, 2 * (size_t)n->count * sizeof *at), *length = at + n->count;
  size_t *my_at = rgi_sched_alloc(s, 2 * (size_t)mine * sizeof *my_at), *my_length = my_at + mine;
  size_t end = 0;
  for (int node = 0; node < n->count && !s->error; node++) {
    at[node] = end;
    for (int i = 0; i < rgi_hier_node_size(s, node); i++) {
      size_t bytes = rgi_blocks_length(&p->in_blocks, rgi_hier_node_member(s, node, i));
      if (node == n->mine) {
        my_at[i] = end - at[node];
        my_length[i] = bytes;
      }
      end += bytes;
    }
    length[node] = end - at[node];
  }
  return (blocks_by_node){{0, at, length}, {0, my_at, my_length}};
}

static void reduce_scatter_hierarchical(rgi_sched *s, const rgi_subgroup *t,
                                        const rgi_algorithm_args *p) {
  rgi_subgroup leaders = rgi_hier_leaders(s, -1);
  const rgi_coll_nodes *n = &s->coll->nodes;
  size_t bytes = all_bytes(t, p), end = 0;
  blocks_by_node order = order_by_node(s, p);
  int is_leader = leaders.me >= 0;
  char *sum = is_leader ? rgi_sched_alloc(s, bytes) : NULL, *sorted = sum, *here = NULL;
  rgi_algorithm_args reduce = {.in = p->in, .out = sum, .bytes = bytes};
  rgi_hier_node_reduce(s, RG_OP_REDUCE_SCATTER, &reduce);
  if (s->error)
    return;
  rgi_sched_end_round(s);
  if (is_leader) {
    here = rgi_sched_alloc(s, order.nodes.length[n->mine]);
    sorted = n->in_order ? sum : rgi_sched_alloc(s, bytes);
    for (int i = 0; i < t->size && sorted != sum; i++) {
      int rank = n->by_node[i];
      rgi_sched_copy(s, sorted + end, sum + rgi_blocks_at(&p->in_blocks, rank),
                     rgi_blocks_length(&p->in_blocks, rank));
      end += rgi_blocks_length(&p->in_blocks, rank);
    }
    rgi_algorithm_args between = {.in = sorted, .in_blocks = order.nodes, .out = here};
    between.bytes = order.nodes.length[n->mine];
    rgi_hier_between(s, RG_OP_REDUCE_SCATTER, &leaders, &between);
  }
  rgi_algorithm_args inside = {
      .in = here, .in_blocks = order.members, .out = p->out, .bytes = p->bytes};
  rgi_choice_build(s, RG_OP_SCATTERV, -1, &n->inside, &inside);
}

/* Where the blocks differ or are combined as a whole all members get the whole sum: the work is
 * shared, and a copy inside a node is cheap. */
static void reduce_scatter_shared(rgi_sched *s, const rgi_subgroup *t,
                                  const rgi_algorithm_args *p) {
  size_t bytes = all_bytes(t, p);
  if (!p->in_blocks.length && !s->reduction.whole) {
    rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_SHM_REDUCE_SCATTER, 0, p->out, p->in, p->bytes});
    return;
  }
  char *sum = rgi_sched_alloc(s, bytes);
  rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_SHM_REDUCE, RGI_SCHED_ALL, sum, p->in, bytes});
  rgi_sched_copy(s, p->out, sum + rgi_blocks_at(&p->in_blocks, t->me), p->bytes);
}

static double reduce_scatter_tree_cost(const rgi_cost_params *l) {
  return (rgi_cost_lg(l->p) + l->p - 1) * l->ts +
         l->p * l->n * (rgi_cost_lg(l->p) * (l->tw + l->tc) + l->tw);
}

static double reduce_scatter_halving_cost(const rgi_cost_params *l) {
  return rgi_cost_lg(l->p) * l->ts + (l->p - 1) * l->n * (l->tw + l->tc);
}

static double reduce_scatter_shared_cost(const rgi_cost_params *l) {
  return rgi_cost_lg(l->p) * l->ts + l->n * (l->p * l->tw + (l->p - 1) * l->tc);
}

const rgi_algorithm rgi_algorithms_reduce_scatter[] = {
    {"tree", reduce_scatter_tree, RGI_ALGORITHM_UNEVEN, reduce_scatter_tree_cost,
     "(lg p + p - 1) t_s + p n (lg p (t_w + t_c) + t_w)"},
    {"halving", reduce_scatter_halving, RGI_ALGORITHM_UNEVEN, reduce_scatter_halving_cost,
     "lg p t_s + (p - 1) n (t_w + t_c)"},
    {"ring", reduce_scatter_ring, RGI_ALGORITHM_COMMUTES | RGI_ALGORITHM_UNEVEN,
     RGI_COST_REDUCE_LINEAR},
    {"hierarchical", reduce_scatter_hierarchical, RGI_ALGORITHM_NODES | RGI_ALGORITHM_UNEVEN, NULL,
     "inside the node + between nodes + inside the node"},
    {"shared", reduce_scatter_shared,
     RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_UNEVEN | RGI_ALGORITHM_DIVIDES,
     reduce_scatter_shared_cost, "lg p t_s + n (p t_w + (p - 1) t_c)"},
    {0}};
