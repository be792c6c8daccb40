/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The pieces of the hierarchical algorithms. Other operations' algorithms are reached by
 * rgi_choice_build through the group's tables. */
#include "collectives/algorithms/hier.h"

#include <string.h>

#include "collectives/algorithms/choice.h"

rgi_subgroup rgi_hier_leaders(rgi_sched *sched, int root) {
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  rgi_subgroup leaders = nodes->leaders;
  if (root < 0 || nodes->leaders.ranks[nodes->of[root]] == root)
    return leaders;
  int *ranks = rgi_sched_alloc(sched, (size_t)nodes->count * sizeof *ranks);
  if (!ranks)
    return leaders;
  memcpy(ranks, nodes->leaders.ranks, (size_t)nodes->count * sizeof *ranks);
  ranks[nodes->of[root]] = root;
  leaders.ranks = ranks;
  if (nodes->of[root] == nodes->mine)
    leaders.me = sched->coll->all.me == root ? nodes->mine : -1;
  return leaders;
}

int rgi_hier_leader_local_rank(const rgi_sched *sched, const rgi_subgroup *leaders) {
  return rgi_coll_local_rank(sched->coll, leaders->ranks[sched->coll->nodes.mine]);
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

void rgi_hier_between(rgi_sched *sched, rg_operation op, const rgi_subgroup *leaders,
                      const rgi_algorithm_args *args) {
  if (leaders->me < 0)
    return;
  rgi_sched_end_round(sched);
  rgi_choice_build(sched, rgi_hier_op_between(op), sched->coll->forced[op].between, leaders, args);
  rgi_sched_end_round(sched);
}

/* --- inside a node ----------------------------------------------------------------------- */

/* Shared memory, unless messages are asked for by name. */
static int uses_shm(const rgi_sched *sched, rg_operation op) {
  return sched->blocking && sched->coll->forced[op].inside < 0;
}

static void build_messages(rgi_sched *sched, rg_operation op, rg_operation part,
                           const rgi_algorithm_args *args) {
  int asked = rgi_hier_op_inside(op) == part ? sched->coll->forced[op].inside : -1;
  rgi_sched_end_round(sched);
  rgi_choice_build(sched, part, asked, &sched->coll->nodes.inside, args);
  rgi_sched_end_round(sched);
}

static void build_shm(rgi_sched *sched, rgi_sched_step_kind kind, rg_operation part,
                      const rgi_algorithm_args *args) {
  rgi_way way = rgi_choice_inside(sched, part, args->bytes);
  rgi_sched_add(sched, (rgi_sched_step){.kind = kind,
                                        .peer = args->root,
                                        .to = args->out,
                                        .from = args->in,
                                        .bytes = args->bytes,
                                        .way = way});
}

void rgi_hier_node_barrier(rgi_sched *sched, rg_operation op) {
  rgi_algorithm_args args = {0};
  if (uses_shm(sched, op))
    rgi_sched_add(sched, (rgi_sched_step){.kind = RGI_SCHED_SHM_BARRIER});
  else
    build_messages(sched, op, RG_OP_BARRIER, &args);
}

void rgi_hier_node_bcast(rgi_sched *sched, rg_operation op, void *data, size_t bytes, int place) {
  rgi_algorithm_args args = {.out = data, .bytes = bytes, .root = place};
  if (uses_shm(sched, op))
    build_shm(sched, RGI_SCHED_SHM_BCAST, RG_OP_BCAST, &args);
  else
    build_messages(sched, op, RG_OP_BCAST, &args);
}

void rgi_hier_node_reduce(rgi_sched *sched, rg_operation op, const rgi_algorithm_args *args) {
  int fits = !sched->reduction.whole || args->bytes <= RGI_SHM_CHUNK;
  if (uses_shm(sched, op) && sched->reduction.datatype.dense && fits)
    build_shm(sched, RGI_SCHED_SHM_REDUCE, RG_OP_REDUCE, args);
  else
    build_messages(sched, op, RG_OP_REDUCE, args);
}

void rgi_hier_node_gather(rgi_sched *sched, rg_operation op, const rgi_algorithm_args *args) {
  rgi_algorithm_args even = *args;
  even.out_blocks.each = args->bytes;
  if (uses_shm(sched, op))
    build_shm(sched, RGI_SCHED_SHM_GATHER, RG_OP_GATHER, args);
  else
    build_messages(sched, op, RG_OP_GATHER, &even);
}

void rgi_hier_node_scatter(rgi_sched *sched, rg_operation op, const rgi_algorithm_args *args) {
  rgi_algorithm_args even = *args;
  even.in_blocks.each = args->bytes;
  if (uses_shm(sched, op))
    build_shm(sched, RGI_SCHED_SHM_SCATTER, RG_OP_SCATTER, args);
  else
    build_messages(sched, op, RG_OP_SCATTER, &even);
}

/* --- members and their nodes ---------------------------------------------------------------- */

int rgi_hier_node_size(const rgi_sched *sched, int node) {
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  return nodes->first[node + 1] - nodes->first[node];
}

int rgi_hier_node_member(const rgi_sched *sched, int node, int i) {
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  return nodes->by_node[nodes->first[node] + i];
}

rgi_blocks rgi_hier_node_blocks(rgi_sched *sched, size_t each_member) {
  int n = sched->coll->nodes.count;
  size_t *at = rgi_sched_alloc(sched, 2 * (size_t)n * sizeof *at), *length = at ? at + n : NULL;
  for (int i = 0; i < n && at; i++) {
    at[i] = (size_t)sched->coll->nodes.first[i] * each_member;
    length[i] = (size_t)rgi_hier_node_size(sched, i) * each_member;
  }
  return (rgi_blocks){each_member, at, length};
}
