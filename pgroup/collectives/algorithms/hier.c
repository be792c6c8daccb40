/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The pieces of the hierarchical algorithms. Other operations' algorithms are reached by
 * rgi_choice_build through the group's tables. */
#include "collectives/algorithms/hier.h"

#include <string.h>

#include "collectives/algorithms/choice.h"

rgi_subgroup rgi_hier_leaders(rgi_sched *s, int root) {
  const rgi_coll_nodes *n = &s->coll->nodes;
  rgi_subgroup leaders = n->leaders;
  if (root < 0 || n->leaders.ranks[n->of[root]] == root)
    return leaders;
  int *ranks = rgi_sched_alloc(s, (size_t)n->count * sizeof *ranks);
  if (!ranks)
    return leaders;
  memcpy(ranks, n->leaders.ranks, (size_t)n->count * sizeof *ranks);
  ranks[n->of[root]] = root;
  leaders.ranks = ranks;
  if (n->of[root] == n->mine)
    leaders.me = s->coll->all.me == root ? n->mine : -1;
  return leaders;
}

int rgi_hier_leader_local_rank(const rgi_sched *s, const rgi_subgroup *leaders) {
  return rgi_coll_local_rank(s->coll, leaders->ranks[s->coll->nodes.mine]);
}

rg_operation rgi_hier_op_between(rg_operation op) {
  switch (op) { /* nodes may have different numbers of members */
  case RG_OP_GATHER:
    return RG_OP_GATHERV;
  case RG_OP_SCATTER:
    return RG_OP_SCATTERV;
  case RG_OP_ALLGATHER:
    return RG_OP_ALLGATHERV;
  case RG_OP_ALLTOALL:
    return RG_OP_ALLTOALLV;
  default:
    return op;
  }
}

rg_operation rgi_hier_op_inside(rg_operation op) {
  switch (op) {
  case RG_OP_ALLREDUCE:
  case RG_OP_REDUCE_SCATTER:
    return RG_OP_REDUCE;
  case RG_OP_ALLGATHER:
  case RG_OP_ALLTOALL:
    return RG_OP_GATHER;
  case RG_OP_ALLGATHERV:
    return RG_OP_GATHERV;
  default:
    return op;
  }
}

void rgi_hier_between(rgi_sched *s, rg_operation op, const rgi_subgroup *leaders,
                      const rgi_algorithm_args *p) {
  if (leaders->me < 0)
    return;
  rgi_sched_end_round(s);
  rgi_choice_build(s, rgi_hier_op_between(op), s->coll->forced[op].between, leaders, p);
  rgi_sched_end_round(s);
}

/* --- inside a node ----------------------------------------------------------------------- */

/* Shared memory, unless messages are asked for by name. */
static int uses_shm(const rgi_sched *s, rg_operation op) {
  return s->blocking && s->coll->forced[op].inside < 0;
}

static void build_messages(rgi_sched *s, rg_operation op, rg_operation part,
                           const rgi_algorithm_args *p) {
  int asked = rgi_hier_op_inside(op) == part ? s->coll->forced[op].inside : -1;
  rgi_sched_end_round(s);
  rgi_choice_build(s, part, asked, &s->coll->nodes.inside, p);
  rgi_sched_end_round(s);
}

static void build_shm(rgi_sched *s, rgi_sched_step_kind kind, const rgi_algorithm_args *p) {
  rgi_sched_add(s, (rgi_sched_step){kind, p->root, p->out, p->in, p->bytes});
}

void rgi_hier_node_barrier(rgi_sched *s, rg_operation op) {
  rgi_algorithm_args p = {0};
  if (uses_shm(s, op))
    build_shm(s, RGI_SCHED_SHM_BARRIER, &p);
  else
    build_messages(s, op, RG_OP_BARRIER, &p);
}

void rgi_hier_node_bcast(rgi_sched *s, rg_operation op, void *data, size_t bytes, int place) {
  rgi_algorithm_args p = {.out = data, .bytes = bytes, .root = place};
  if (uses_shm(s, op))
    build_shm(s, RGI_SCHED_SHM_BCAST, &p);
  else
    build_messages(s, op, RG_OP_BCAST, &p);
}

void rgi_hier_node_reduce(rgi_sched *s, rg_operation op, const rgi_algorithm_args *p) {
  int fits = !s->reduction.whole || p->bytes <= RGI_SHM_CHUNK;
  if (uses_shm(s, op) && s->reduction.datatype.dense && fits)
    build_shm(s, RGI_SCHED_SHM_REDUCE, p);
  else
    build_messages(s, op, RG_OP_REDUCE, p);
}

void rgi_hier_node_gather(rgi_sched *s, rg_operation op, const rgi_algorithm_args *p) {
  rgi_algorithm_args even = *p;
  even.out_blocks.each = p->bytes;
  if (uses_shm(s, op))
    build_shm(s, RGI_SCHED_SHM_GATHER, p);
  else
    build_messages(s, op, RG_OP_GATHER, &even);
}

void rgi_hier_node_scatter(rgi_sched *s, rg_operation op, const rgi_algorithm_args *p) {
  rgi_algorithm_args even = *p;
  even.in_blocks.each = p->bytes;
  if (uses_shm(s, op))
    build_shm(s, RGI_SCHED_SHM_SCATTER, p);
  else
    build_messages(s, op, RG_OP_SCATTER, &even);
}

/* --- members and their nodes ---------------------------------------------------------------- */

int rgi_hier_node_size(const rgi_sched *s, int node) {
  const rgi_coll_nodes *n = &s->coll->nodes;
  return n->first[node + 1] - n->first[node];
}

int rgi_hier_node_member(const rgi_sched *s, int node, int i) {
  const rgi_coll_nodes *n = &s->coll->nodes;
  return n->by_node[n->first[node] + i];
}

rgi_blocks rgi_hier_node_blocks(rgi_sched *s, size_t each_member) {
  int n = s->coll->nodes.count;
  size_t *at = rgi_sched_alloc(s, 2 * (size_t)n * sizeof *at), *length = at + n;
  for (int i = 0; i < n && at; i++) {
    at[i] = (size_t)s->coll->nodes.first[i] * each_member;
    length[i] = (size_t)rgi_hier_node_size(s, i) * each_member;
  }
  return (rgi_blocks){each_member, at, length};
}
