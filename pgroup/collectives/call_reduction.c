/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reduce, allreduce, reduce-scatter, scan and exscan, as the user calls them: the operations
 * that combine operands. */
#include "base/error.h"
#include "collectives/call.h"
#include "collectives/fast_path.h"

static rgi_call reduction_call(rg_operation operation, rg_group g, const void *send,
                               rgi_call_side recv, MPI_Op op) {
  return (rgi_call){
      .operation = operation, .group = g, .send = {.memory = send}, .recv = recv, .op = op};
}

int rg_reduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
              MPI_Op op, int root) {
  rgi_shm_coll_reduction r = {.in = send,
                              .out = recv,
                              .count = (size_t)count,
                              .type = type,
                              .op = op,
                              .root = root,
                              .call = __func__};
  rgi_shared_state *l = rgi_fast_path_reduction(g, &r, count, root);
  if (l)
    return rgi_shm_coll_reduce(l, &r);
  rgi_call c = reduction_call(RG_OP_REDUCE, g, send, rgi_call_block(recv, count, type), op);
  c.root = root;
  return rgi_call_run(&c, __func__);
}

int rg_ireduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
               MPI_Op op, int root, rg_request *request) {
  rgi_call c = reduction_call(RG_OP_REDUCE, g, send, rgi_call_block(recv, count, type), op);
  c.root = root;
  return rgi_call_start(&c, __func__, request);
}

int rg_allreduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                 MPI_Op op) {
  rgi_shm_coll_reduction r = {.in = send == MPI_IN_PLACE ? recv : send,
                              .out = recv,
                              .count = (size_t)count,
                              .type = type,
                              .op = op,
                              .root = RGI_SHM_COLL_ALL,
                              .call = __func__};
  rgi_shared_state *l = rgi_fast_path_reduction(g, &r, count, 0);
  if (l)
    return rgi_shm_coll_reduce(l, &r);
  rgi_call c = reduction_call(RG_OP_ALLREDUCE, g, send, rgi_call_block(recv, count, type), op);
  return rgi_call_run(&c, __func__);
}

int rg_iallreduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                  MPI_Op op, rg_request *request) {
  rgi_call c = reduction_call(RG_OP_ALLREDUCE, g, send, rgi_call_block(recv, count, type), op);
  return rgi_call_start(&c, __func__, request);
}

/* Without counts the blocks would be taken for equal ones. */
static int check_counts(const char *name, const MPI_Count counts[]) {
  return counts ? RG_SUCCESS : rgi_error(RG_ERR_ARG, "%s: counts is NULL", name);
}

int rg_reduce_scatter(rg_group g, const void *send, void *recv, const MPI_Count counts[],
                      MPI_Datatype type, MPI_Op op) {
  RGI_TRY(check_counts(__func__, counts));
  rgi_call c =
      reduction_call(RG_OP_REDUCE_SCATTER, g, send, rgi_call_vector(recv, counts, NULL, type), op);
  return rgi_call_run(&c, __func__);
}

int rg_ireduce_scatter(rg_group g, const void *send, void *recv, const MPI_Count counts[],
                       MPI_Datatype type, MPI_Op op, rg_request *request) {
  RGI_TRY(check_counts(__func__, counts));
  rgi_call c =
      reduction_call(RG_OP_REDUCE_SCATTER, g, send, rgi_call_vector(recv, counts, NULL, type), op);
  return rgi_call_start(&c, __func__, request);
}

int rg_reduce_scatter_block(rg_group g, const void *send, void *recv, MPI_Count count,
                            MPI_Datatype type, MPI_Op op) {
  rgi_call c = reduction_call(RG_OP_REDUCE_SCATTER, g, send, rgi_call_block(recv, count, type), op);
  return rgi_call_run(&c, __func__);
}

int rg_ireduce_scatter_block(rg_group g, const void *send, void *recv, MPI_Count count,
                             MPI_Datatype type, MPI_Op op, rg_request *request) {
  rgi_call c = reduction_call(RG_OP_REDUCE_SCATTER, g, send, rgi_call_block(recv, count, type), op);
  return rgi_call_start(&c, __func__, request);
}

int rg_scan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
            MPI_Op op) {
  rgi_call c = reduction_call(RG_OP_SCAN, g, send, rgi_call_block(recv, count, type), op);
  return rgi_call_run(&c, __func__);
}

int rg_iscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
             MPI_Op op, rg_request *request) {
  rgi_call c = reduction_call(RG_OP_SCAN, g, send, rgi_call_block(recv, count, type), op);
  return rgi_call_start(&c, __func__, request);
}

int rg_exscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
              MPI_Op op) {
  rgi_call c = reduction_call(RG_OP_EXSCAN, g, send, rgi_call_block(recv, count, type), op);
  return rgi_call_run(&c, __func__);
}

int rg_iexscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
               MPI_Op op, rg_request *request) {
  rgi_call c = reduction_call(RG_OP_EXSCAN, g, send, rgi_call_block(recv, count, type), op);
  return rgi_call_start(&c, __func__, request);
}
