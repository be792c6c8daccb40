/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reduce, allreduce, reduce-scatter, scan and exscan, as the user calls them: the operations
 * that combine operands. */
#include "base/error.h"
#include "collectives/calls/call.h"
#include "collectives/calls/fast_path.h"

/* A reduction of vectors: operands and result are alike. */
static inline void describe_vectors(rgi_call *call, rg_operation operation, rg_group g, int root,
                                    const void *send, const void *recv, MPI_Count count,
                                    MPI_Datatype type, MPI_Op op) {
  rgi_call_begin(call, operation, g, root);
  rgi_call_block(&call->send, send, count, type);
  rgi_call_block(&call->recv, recv, count, type);
  call->op = op;
}

int rg_reduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
              MPI_Op op, int root) {
  rgi_node_coll_reduction reduction = {.in = send,
                                       .out = recv,
                                       .count = (size_t)count,
                                       .type = type,
                                       .op = op,
                                       .root = root,
                                       .call = __func__};
  rgi_shared_state *state = rgi_fast_path_reduction(RG_OP_REDUCE, g, &reduction, count, root);
  if (state) {
    reduction.way = rgi_fast_path_way(rgi_algorithms_reduce, g, reduction.count * reduction.size);
    return rgi_node_coll_reduce(state, &reduction);
  }
  rgi_call call;
  describe_vectors(&call, RG_OP_REDUCE, g, root, send, recv, count, type, op);
  return rgi_call_run(&call, __func__);
}

int rg_ireduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
               MPI_Op op, int root, rg_request *request) {
  rgi_call call;
  describe_vectors(&call, RG_OP_REDUCE, g, root, send, recv, count, type, op);
  return rgi_call_start(&call, __func__, request);
}

int rg_allreduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                 MPI_Op op) {
  rgi_node_coll_reduction reduction = {.in = send == MPI_IN_PLACE ? recv : send,
                                       .out = recv,
                                       .count = (size_t)count,
                                       .type = type,
                                       .op = op,
                                       .root = RGI_NODE_COLL_ALL,
                                       .call = __func__};
  rgi_shared_state *state = rgi_fast_path_reduction(RG_OP_ALLREDUCE, g, &reduction, count, 0);
  if (state) {
    reduction.way =
        rgi_fast_path_way(rgi_algorithms_allreduce, g, reduction.count * reduction.size);
    return rgi_node_coll_reduce(state, &reduction);
  }
  rgi_call call;
  describe_vectors(&call, RG_OP_ALLREDUCE, g, 0, send, recv, count, type, op);
  return rgi_call_run(&call, __func__);
}

int rg_iallreduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                  MPI_Op op, rg_request *request) {
  rgi_call call;
  describe_vectors(&call, RG_OP_ALLREDUCE, g, 0, send, recv, count, type, op);
  return rgi_call_start(&call, __func__, request);
}

/* A reduction of which the caller alone has all elements, or of none: the fast path of operations
 * that have no other. */
static rgi_shared_state *fast_path_alone(rg_operation op, rg_group g,
                                         rgi_node_coll_reduction *reduction, MPI_Count count) {
  int alone = count > 0 && g && g->magic == RGI_GROUP_MAGIC && rgi_members_count(g->members) == 1;
  return alone || count == 0 ? rgi_fast_path_reduction(op, g, reduction, count, 0) : NULL;
}

/* Without counts the blocks would be taken for equal ones. */
static int check_counts(const char *name, const MPI_Count counts[]) {
  return counts ? RG_SUCCESS : rgi_error(RG_ERR_ARG, "%s: counts is NULL", name);
}

int rg_reduce_scatter(rg_group g, const void *send, void *recv, const MPI_Count counts[],
                      MPI_Datatype type, MPI_Op op) {
  RGI_TRY(check_counts(__func__, counts));
  rgi_call call;
  rgi_call_begin(&call, RG_OP_REDUCE_SCATTER, g, 0);
  rgi_call_vector(&call.send, send, counts, NULL, type);
  rgi_call_vector(&call.recv, recv, counts, NULL, type);
  call.op = op;
  return rgi_call_run(&call, __func__);
}

int rg_ireduce_scatter(rg_group g, const void *send, void *recv, const MPI_Count counts[],
                       MPI_Datatype type, MPI_Op op, rg_request *request) {
  RGI_TRY(check_counts(__func__, counts));
  rgi_call call;
  rgi_call_begin(&call, RG_OP_REDUCE_SCATTER, g, 0);
  rgi_call_vector(&call.send, send, counts, NULL, type);
  rgi_call_vector(&call.recv, recv, counts, NULL, type);
  call.op = op;
  return rgi_call_start(&call, __func__, request);
}

int rg_reduce_scatter_block(rg_group g, const void *send, void *recv, MPI_Count count,
                            MPI_Datatype type, MPI_Op op) {
  rgi_node_coll_reduction reduction = {
      .in = send, .out = recv, .count = (size_t)count, .type = type, .op = op, .call = __func__};
  rgi_shared_state *state =
      count > INT32_MAX ? NULL
                        : rgi_fast_path_reduction(RG_OP_REDUCE_SCATTER, g, &reduction, count, 0);
  if (state) {
    reduction.way =
        rgi_fast_path_way(rgi_algorithms_reduce_scatter, g, reduction.count * reduction.size);
    return rgi_node_coll_reduce_scatter(state, &reduction);
  }
  rgi_call call;
  describe_vectors(&call, RG_OP_REDUCE_SCATTER, g, 0, send, recv, count, type, op);
  return rgi_call_run(&call, __func__);
}

int rg_ireduce_scatter_block(rg_group g, const void *send, void *recv, MPI_Count count,
                             MPI_Datatype type, MPI_Op op, rg_request *request) {
  rgi_call call;
  describe_vectors(&call, RG_OP_REDUCE_SCATTER, g, 0, send, recv, count, type, op);
  return rgi_call_start(&call, __func__, request);
}

int rg_scan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
            MPI_Op op) {
  rgi_node_coll_reduction reduction = {
      .in = send, .out = recv, .count = (size_t)count, .type = type, .op = op, .call = __func__};
  rgi_shared_state *state = fast_path_alone(RG_OP_SCAN, g, &reduction, count);
  if (state) {
    reduction.way = rgi_fast_path_way(rgi_algorithms_scan, g, reduction.count * reduction.size);
    return rgi_node_coll_reduce(state, &reduction);
  }
  rgi_call call;
  describe_vectors(&call, RG_OP_SCAN, g, 0, send, recv, count, type, op);
  return rgi_call_run(&call, __func__);
}

int rg_iscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
             MPI_Op op, rg_request *request) {
  rgi_call call;
  describe_vectors(&call, RG_OP_SCAN, g, 0, send, recv, count, type, op);
  return rgi_call_start(&call, __func__, request);
}

int rg_exscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
              MPI_Op op) {
  rgi_node_coll_reduction reduction = {
      .in = send, .out = recv, .count = (size_t)count, .type = type, .op = op, .call = __func__};
  rgi_shared_state *state = fast_path_alone(RG_OP_EXSCAN, g, &reduction, count);
  if (state)
    return RG_SUCCESS;
  rgi_call call;
  describe_vectors(&call, RG_OP_EXSCAN, g, 0, send, recv, count, type, op);
  return rgi_call_run(&call, __func__);
}

int rg_iexscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
               MPI_Op op, rg_request *request) {
  rgi_call call;
  describe_vectors(&call, RG_OP_EXSCAN, g, 0, send, recv, count, type, op);
  return rgi_call_start(&call, __func__, request);
}
