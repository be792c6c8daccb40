/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The algorithms of all-to-all and its vector form. The hierarchical one gathers all blocks of a
 * node at its leader, sorts them by target node, exchanges between leaders and scatters. */
#include "collectives/algorithms/hier.h"
#include "collectives/schedule/algorithm.h"

static void send_block(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p, int to) {
  rgi_sched_send(s, t, to, p->in + rgi_blocks_at(&p->in_blocks, to),
                 rgi_blocks_length(&p->in_blocks, to));
}

static void receive_block(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p,
                          int from) {
  rgi_sched_receive(s, t, from, p->out + rgi_blocks_at(&p->out_blocks, from),
                    rgi_blocks_length(&p->out_blocks, from));
}

static void copy_own(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  rgi_sched_copy(s, p->out + rgi_blocks_at(&p->out_blocks, t->me),
                 p->in + rgi_blocks_at(&p->in_blocks, t->me),
                 rgi_blocks_length(&p->out_blocks, t->me));
}

/* All messages at once. */
static void alltoall_linear(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  for (int k = 1; k < t->size; k++) {
    receive_block(s, t, p, (t->me - k + t->size) % t->size);
    send_block(s, t, p, (t->me + k) % t->size);
  }
  copy_own(s, t, p);
}

/* One partner in each round. */
static void alltoall_pairwise(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  copy_own(s, t, p);
  for (int k = 1; k < t->size; k++) {
    receive_block(s, t, p, (t->me - k + t->size) % t->size);
    send_block(s, t, p, (t->me + k) % t->size);
    rgi_sched_end_round(s);
  }
}

/* n blocks of m bytes, one after another. */
typedef struct {
  char *all;
  int n;
  size_t m;
} block_row;

/* Copies the blocks whose number has the bit, between the row and packed. Returns how many. */
static size_t copy_blocks_with_bit(rgi_sched *s, const block_row *b, long long bit, char *packed,
                                   int pack) {
  size_t count = 0;
  for (int i = 1; i < b->n; i++)
    if (i & bit) {
      char *in_all = b->all + (size_t)i * b->m, *in_packed = packed + count++ * b->m;
      rgi_sched_copy(s, pack ? in_packed : in_all, pack ? in_all : in_packed, b->m);
    }
  return count;
}

/* Block i has to go i ranks further: for each bit of i one step of that distance, together with
 * all other blocks that have the bit. */
static void alltoall_bruck(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  int n = t->size, me = t->me;
  size_t m = p->bytes, half = (size_t)(n + 1) / 2;
  char *all = rgi_sched_alloc(s, (size_t)n * m);
  char *out = rgi_sched_alloc(s, half * m), *in = rgi_sched_alloc(s, half * m);
  block_row row = {all, n, m};
  rgi_sched_copy(s, all, p->in + (size_t)me * m, (size_t)(n - me) * m);
  rgi_sched_copy(s, all + (size_t)(n - me) * m, p->in, (size_t)me * m);
  for (long long bit = 1; bit < n; bit *= 2) {
    size_t blocks = copy_blocks_with_bit(s, &row, bit, out, 1);
    rgi_sched_send(s, t, (int)((me + bit) % n), out, blocks * m);
    rgi_sched_receive(s, t, (int)((me - bit + n) % n), in, blocks * m);
    rgi_sched_end_round(s);
    copy_blocks_with_bit(s, &row, bit, in, 0);
  }
  for (int i = 0; i < n; i++)
    rgi_sched_copy(s, p->out + (size_t)((me - i + n) % n) * m, all + (size_t)i * m, m);
}

/* Sorts what the members of the caller's node send: from sender by sender to target node by
 * target node. */
static void sort_by_target(rgi_sched *s, const rgi_algorithm_args *p, const char *from, char *to) {
  const rgi_coll_nodes *nodes = &s->coll->nodes;
  int size = s->coll->all.size, mine = rgi_hier_node_size(s, nodes->mine);
  size_t m = p->bytes;
  for (int node = 0; node < nodes->count; node++)
    for (int i = 0; i < mine; i++)
      for (int j = 0; j < rgi_hier_node_size(s, node); j++, to += m)
        rgi_sched_copy(
            s, to, from + ((size_t)i * (size_t)size + (size_t)rgi_hier_node_member(s, node, j)) * m,
            m);
}

/* Sorts what the nodes have sent: from source node by source node to receiver by receiver. */
static void sort_by_member(rgi_sched *s, const rgi_algorithm_args *p, const char *from, char *to) {
  const rgi_coll_nodes *nodes = &s->coll->nodes;
  int size = s->coll->all.size, mine = rgi_hier_node_size(s, nodes->mine);
  size_t m = p->bytes;
  for (int node = 0; node < nodes->count; node++)
    for (int i = 0; i < rgi_hier_node_size(s, node); i++)
      for (int j = 0; j < mine; j++, from += m)
        rgi_sched_copy(
            s, to + ((size_t)j * (size_t)size + (size_t)rgi_hier_node_member(s, node, i)) * m, from,
            m);
}

static void alltoall_hierarchical(rgi_sched *s, const rgi_subgroup *t,
                                  const rgi_algorithm_args *p) {
  rgi_subgroup leaders = rgi_hier_leaders(s, -1);
  size_t mine = (size_t)rgi_hier_node_size(s, s->coll->nodes.mine);
  size_t each = (size_t)t->size * p->bytes;
  int is_leader = leaders.me >= 0;
  char *here = is_leader ? rgi_sched_alloc(s, mine * each) : NULL;
  char *sorted = is_leader ? rgi_sched_alloc(s, mine * each) : NULL;
  rgi_algorithm_args gather = {.in = p->in, .out = here, .bytes = each};
  rgi_algorithm_args scatter = {.in = sorted, .out = p->out, .bytes = each};
  rgi_hier_node_gather(s, RG_OP_ALLTOALL, &gather);
  if (is_leader && !s->error) {
    rgi_algorithm_args between = {.in = sorted, .out = here, .bytes = mine * p->bytes};
    between.in_blocks = between.out_blocks = rgi_hier_node_blocks(s, mine * p->bytes);
    rgi_sched_end_round(s);
    sort_by_target(s, p, here, sorted);
    rgi_hier_between(s, RG_OP_ALLTOALL, &leaders, &between);
    sort_by_member(s, p, here, sorted);
  }
  rgi_hier_node_scatter(s, RG_OP_ALLTOALL, &scatter);
}

static void alltoall_shared(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  (void)t;
  rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_SHM_ALLTOALL, 0, p->out, p->in, p->bytes});
}

static double alltoall_bruck_cost(const rgi_cost_params *l) {
  return rgi_cost_lg(l->p) * (l->ts + l->p / 2 * l->n * l->tw);
}

/* The members meet once; each block is copied twice. */
static double alltoall_shared_cost(const rgi_cost_params *l) {
  return rgi_cost_lg(l->p) * l->ts + 2 * (l->p - 1) * l->n * l->tw;
}

const rgi_algorithm rgi_algorithms_alltoall[] = {
    {"linear", alltoall_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"pairwise", alltoall_pairwise, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"bruck", alltoall_bruck, 0, alltoall_bruck_cost, "lg p (t_s + p/2 n t_w)"},
    {"hierarchical", alltoall_hierarchical, RGI_ALGORITHM_NODES, NULL,
     "inside the node + between nodes + inside the node"},
    {"shared", alltoall_shared, RGI_ALGORITHM_ONE_NODE, alltoall_shared_cost,
     "lg p t_s + 2 (p - 1) n t_w"},
    {0}};

const rgi_algorithm rgi_algorithms_alltoallv[] = {
    {"linear", alltoall_linear, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {"pairwise", alltoall_pairwise, RGI_ALGORITHM_UNEVEN, RGI_COST_BLOCKS},
    {0}};
