/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Operations of the members of a shared state, by the ways that the library takes for them. */
#ifndef WAYS_H
#define WAYS_H

#include "collectives/algorithms/choice.h"
#include "collectives/reduction/op.h"

/* Long blocks go directly, although through the buffer it may take less time. */
static int ways_direct;

static inline rgi_way way_for(const rgi_algorithm table[], const rgi_shared_state *state,
                              size_t bytes, MPI_Op op) {
  const rgi_algorithm_inside call = {bytes, (size_t)state->n,
                                     rgi_choice_lacks(state) |
                                         (rgi_op_is_users(op) ? RGI_ALGORITHM_OF_MPI : 0u)};
  rgi_way way = rgi_choice_way(table, &call)->way;
  int direct = ways_direct && bytes >= RGI_ALGORITHM_DIRECT_LEAST && rgi_node.pids;
  return way == RGI_WAY_CHUNKS && direct ? RGI_WAY_DIRECT : way;
}

static inline rgi_way way_of(const rgi_algorithm table[], const rgi_shared_state *state,
                             size_t bytes) {
  return way_for(table, state, bytes, MPI_SUM);
}

static inline int ways_bcast(rgi_shared_state *state, void *data, size_t bytes, int root) {
  return rgi_node_coll_bcast(state, way_of(rgi_algorithms_bcast, state, bytes), data, bytes, root,
                             "test");
}

/* root: or RGI_NODE_COLL_... */
static inline int ways_reduce(rgi_shared_state *state, rgi_node_coll_reduction *reduction) {
  const rgi_algorithm *table = reduction->root == RGI_NODE_COLL_ALL    ? rgi_algorithms_allreduce
                               : reduction->root <= RGI_NODE_COLL_SCAN ? rgi_algorithms_scan
                                                                       : rgi_algorithms_reduce;
  reduction->way = way_for(table, state, reduction->count * reduction->size, reduction->op);
  return rgi_node_coll_reduce(state, reduction);
}

static inline int ways_gather(rgi_shared_state *state, rgi_node_coll_blocks *blocks) {
  blocks->way = way_of(blocks->root < 0 ? rgi_algorithms_allgather : rgi_algorithms_gather, state,
                       blocks->bytes);
  return rgi_node_coll_gather(state, blocks);
}

static inline int ways_scatter(rgi_shared_state *state, rgi_node_coll_blocks *blocks) {
  blocks->way = way_of(rgi_algorithms_scatter, state, blocks->bytes);
  return rgi_node_coll_scatter(state, blocks);
}

static inline int ways_alltoall(rgi_shared_state *state, rgi_node_coll_blocks *blocks) {
  blocks->way = way_of(rgi_algorithms_alltoall, state, blocks->bytes);
  return rgi_node_coll_alltoall(state, blocks);
}

#endif
