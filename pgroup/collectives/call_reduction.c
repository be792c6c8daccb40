/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reduce, allreduce, reduce-scatter, scan and exscan, as the user calls them: the operations
 * that combine operands. */
#include "base/error.h"
#include "collectives/call.h"
#include "collectives/fast_path.h"
#include "collectives/shm_coll.h"

/* root is 0 where there is none. */
static rgi_call reduction_call(rg_operation operation, const char *name, rg_group g,
                               const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                               MPI_Op op, int root) {
  return (rgi_call){.operation = operation,
                    .name = name,
                    .group = g,
                    .root = root,
                    .send = send,
                    .recv = recv,
                    .recv_count = count,
                    .recv_type = type,
                    .op = op};
}

int rg_reduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
              MPI_Op op, int root) {
  rgi_shared_state *l = rgi_fast_path_reduction(g, send, recv, count, type, op, root);
  if (l)
    return rgi_shm_coll_reduce(l, send, recv, (size_t)count, type, op, root, __func__);
  rgi_call c = reduction_call(RG_OP_REDUCE, __func__, g, send, recv, count, type, op, root);
  return rgi_call_run(&c, NULL);
}

int rg_ireduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
               MPI_Op op, int root, rg_request *request) {
  rgi_call c = reduction_call(RG_OP_REDUCE, __func__, g, send, recv, count, type, op, root);
  return RGI_CALL_START(c, request);
}

int rg_allreduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                 MPI_Op op) {
  const void *from = send == MPI_IN_PLACE ? recv : send;
  rgi_shared_state *l = rgi_fast_path_reduction(g, from, recv, count, type, op, 0);
  if (l)
    return rgi_shm_coll_allreduce(l, from, recv, (size_t)count, type, op, __func__);
  rgi_call c = reduction_call(RG_OP_ALLREDUCE, __func__, g, send, recv, count, type, op, 0);
  return rgi_call_run(&c, NULL);
}

int rg_iallreduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                  MPI_Op op, rg_request *request) {
  rgi_call c = reduction_call(RG_OP_ALLREDUCE, __func__, g, send, recv, count, type, op, 0);
  return RGI_CALL_START(c, request);
}

/* counts NULL would mean equal blocks here. */
static int check_counts(const char *name, const MPI_Count counts[]) {
  return counts ? RG_SUCCESS : rgi_error(RG_ERR_ARG, "%s: counts is NULL", name);
}

int rg_reduce_scatter(rg_group g, const void *send, void *recv, const MPI_Count counts[],
                      MPI_Datatype type, MPI_Op op) {
  rgi_call c = reduction_call(RG_OP_REDUCE_SCATTER, __func__, g, send, recv, 0, type, op, 0);
  RGI_TRY(check_counts(__func__, counts));
  c.recv_counts = counts;
  return rgi_call_run(&c, NULL);
}

int rg_ireduce_scatter(rg_group g, const void *send, void *recv, const MPI_Count counts[],
                       MPI_Datatype type, MPI_Op op, rg_request *request) {
  rgi_call c = reduction_call(RG_OP_REDUCE_SCATTER, __func__, g, send, recv, 0, type, op, 0);
  RGI_TRY(check_counts(__func__, counts));
  c.recv_counts = counts;
  return RGI_CALL_START(c, request);
}

int rg_reduce_scatter_block(rg_group g, const void *send, void *recv, MPI_Count count,
                            MPI_Datatype type, MPI_Op op) {
  rgi_call c = reduction_call(RG_OP_REDUCE_SCATTER, __func__, g, send, recv, count, type, op, 0);
  return rgi_call_run(&c, NULL);
}

int rg_ireduce_scatter_block(rg_group g, const void *send, void *recv, MPI_Count count,
                             MPI_Datatype type, MPI_Op op, rg_request *request) {
  rgi_call c = reduction_call(RG_OP_REDUCE_SCATTER, __func__, g, send, recv, count, type, op, 0);
  return RGI_CALL_START(c, request);
}

int rg_scan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
            MPI_Op op) {
  rgi_call c = reduction_call(RG_OP_SCAN, __func__, g, send, recv, count, type, op, 0);
  return rgi_call_run(&c, NULL);
}

int rg_iscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
             MPI_Op op, rg_request *request) {
  rgi_call c = reduction_call(RG_OP_SCAN, __func__, g, send, recv, count, type, op, 0);
  return RGI_CALL_START(c, request);
}

int rg_exscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
              MPI_Op op) {
  rgi_call c = reduction_call(RG_OP_EXSCAN, __func__, g, send, recv, count, type, op, 0);
  return rgi_call_run(&c, NULL);
}

int rg_iexscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
               MPI_Op op, rg_request *request) {
  rgi_call c = reduction_call(RG_OP_EXSCAN, __func__, g, send, recv, count, type, op, 0);
  return RGI_CALL_START(c, request);
}
