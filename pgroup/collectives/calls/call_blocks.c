/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gather, scatter, allgather and all-to-all with their vector forms, as the user calls them:
 * the operations in which members exchange blocks. */
#include "base/error.h"
#include "collectives/calls/call.h"
#include "collectives/calls/fast_path.h"

/* Arguments of one side. */
typedef struct {
  const void *memory;
  MPI_Count count;
  MPI_Datatype type;
} block_side;

/* The fast path, and the bytes of a block. own: the side of one block; all: that of a block for
 * each member, with elements of the same kind; has_all: whether the caller has it. */
static inline __attribute__((always_inline)) rgi_shared_state *
fast_blocks(rg_operation op, rg_group g, block_side own, block_side all, int has_all, int root,
            size_t *bytes) {
  block_side u = has_all && own.memory == MPI_IN_PLACE ? all : own;
  size_t element = rgi_datatype_basic_size(u.type);
  if (has_all && (all.count != u.count || all.type != u.type || all.memory == MPI_IN_PLACE ||
                  (!all.memory && all.count > 0)))
    return NULL;
  if (u.count > INT32_MAX) /* so that the bytes of all blocks can be counted */
    return NULL;
  *bytes = (size_t)u.count * element;
  return rgi_fast_path(op, g, u.count, u.memory, element, root);
}

/* The caller's own block of what it gathers. */
static const void *own_block(rg_group g, const void *send, const void *recv, size_t bytes) {
  return send == MPI_IN_PLACE ? (const char *)recv + (size_t)g->me * bytes : send;
}

int rg_gather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
              void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root) {
  size_t bytes;
  rgi_shared_state *state =
      fast_blocks(RG_OP_GATHER, g, (block_side){send, send_count, send_type},
                  (block_side){recv, recv_count, recv_type}, g && g->me == root, root, &bytes);
  if (state)
    return rgi_node_coll_gather(
        state, &(rgi_node_coll_blocks){.in = own_block(g, send, recv, bytes),
                                       .out = recv,
                                       .bytes = bytes,
                                       .root = root,
                                       .call = __func__,
                                       .way = rgi_fast_path_way(rgi_algorithms_gather, g, bytes)});
  rgi_call call;
  rgi_call_begin(&call, RG_OP_GATHER, g, root);
  rgi_call_block(&call.send, send, send_count, send_type);
  rgi_call_block(&call.recv, recv, recv_count, recv_type);
  return rgi_call_run(&call, __func__);
}

int rg_igather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
               void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root,
               rg_request *request) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_GATHER, g, root);
  rgi_call_block(&call.send, send, send_count, send_type);
  rgi_call_block(&call.recv, recv, recv_count, recv_type);
  return rgi_call_start(&call, __func__, request);
}

int rg_gatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
               void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
               MPI_Datatype recv_type, int root) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_GATHERV, g, root);
  rgi_call_block(&call.send, send, send_count, send_type);
  rgi_call_vector(&call.recv, recv, recv_counts, displs, recv_type);
  return rgi_call_run(&call, __func__);
}

int rg_igatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                MPI_Datatype recv_type, int root, rg_request *request) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_GATHERV, g, root);
  rgi_call_block(&call.send, send, send_count, send_type);
  rgi_call_vector(&call.recv, recv, recv_counts, displs, recv_type);
  return rgi_call_start(&call, __func__, request);
}

int rg_scatter(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
               void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root) {
  size_t bytes;
  rgi_shared_state *state =
      fast_blocks(RG_OP_SCATTER, g, (block_side){recv, recv_count, recv_type},
                  (block_side){send, send_count, send_type}, g && g->me == root, root, &bytes);
  if (state)
    return rgi_node_coll_scatter(
        state, &(rgi_node_coll_blocks){.in = send,
                                       .out = recv == MPI_IN_PLACE ? NULL : recv,
                                       .bytes = bytes,
                                       .root = root,
                                       .call = __func__,
                                       .way = rgi_fast_path_way(rgi_algorithms_scatter, g, bytes)});
  rgi_call call;
  rgi_call_begin(&call, RG_OP_SCATTER, g, root);
  rgi_call_block(&call.send, send, send_count, send_type);
  rgi_call_block(&call.recv, recv, recv_count, recv_type);
  return rgi_call_run(&call, __func__);
}

int rg_iscatter(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root,
                rg_request *request) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_SCATTER, g, root);
  rgi_call_block(&call.send, send, send_count, send_type);
  rgi_call_block(&call.recv, recv, recv_count, recv_type);
  return rgi_call_start(&call, __func__, request);
}

int rg_scatterv(rg_group g, const void *send, const MPI_Count send_counts[],
                const MPI_Aint displs[], MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                MPI_Datatype recv_type, int root) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_SCATTERV, g, root);
  rgi_call_vector(&call.send, send, send_counts, displs, send_type);
  rgi_call_block(&call.recv, recv, recv_count, recv_type);
  return rgi_call_run(&call, __func__);
}

int rg_iscatterv(rg_group g, const void *send, const MPI_Count send_counts[],
                 const MPI_Aint displs[], MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                 MPI_Datatype recv_type, int root, rg_request *request) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_SCATTERV, g, root);
  rgi_call_vector(&call.send, send, send_counts, displs, send_type);
  rgi_call_block(&call.recv, recv, recv_count, recv_type);
  return rgi_call_start(&call, __func__, request);
}

int rg_allgather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                 void *recv, MPI_Count recv_count, MPI_Datatype recv_type) {
  size_t bytes;
  rgi_shared_state *state =
      fast_blocks(RG_OP_ALLGATHER, g, (block_side){send, send_count, send_type},
                  (block_side){recv, recv_count, recv_type}, 1, 0, &bytes);
  if (state)
    return rgi_node_coll_gather(
        state,
        &(rgi_node_coll_blocks){.in = own_block(g, send, recv, bytes),
                                .out = recv,
                                .bytes = bytes,
                                .root = RGI_NODE_COLL_ALL,
                                .call = __func__,
                                .way = rgi_fast_path_way(rgi_algorithms_allgather, g, bytes)});
  rgi_call call;
  rgi_call_begin(&call, RG_OP_ALLGATHER, g, 0);
  rgi_call_block(&call.send, send, send_count, send_type);
  rgi_call_block(&call.recv, recv, recv_count, recv_type);
  return rgi_call_run(&call, __func__);
}

int rg_iallgather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                  void *recv, MPI_Count recv_count, MPI_Datatype recv_type, rg_request *request) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_ALLGATHER, g, 0);
  rgi_call_block(&call.send, send, send_count, send_type);
  rgi_call_block(&call.recv, recv, recv_count, recv_type);
  return rgi_call_start(&call, __func__, request);
}

int rg_allgatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                  void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                  MPI_Datatype recv_type) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_ALLGATHERV, g, 0);
  rgi_call_block(&call.send, send, send_count, send_type);
  rgi_call_vector(&call.recv, recv, recv_counts, displs, recv_type);
  return rgi_call_run(&call, __func__);
}

int rg_iallgatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                   void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                   MPI_Datatype recv_type, rg_request *request) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_ALLGATHERV, g, 0);
  rgi_call_block(&call.send, send, send_count, send_type);
  rgi_call_vector(&call.recv, recv, recv_counts, displs, recv_type);
  return rgi_call_start(&call, __func__, request);
}

int rg_alltoall(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                void *recv, MPI_Count recv_count, MPI_Datatype recv_type) {
  size_t bytes;
  rgi_shared_state *state =
      send == MPI_IN_PLACE
          ? NULL
          : fast_blocks(RG_OP_ALLTOALL, g, (block_side){send, send_count, send_type},
                        (block_side){recv, recv_count, recv_type}, 1, 0, &bytes);
  if (state)
    return rgi_node_coll_alltoall(
        state,
        &(rgi_node_coll_blocks){.in = send,
                                .out = recv,
                                .bytes = bytes,
                                .call = __func__,
                                .way = rgi_fast_path_way(rgi_algorithms_alltoall, g, bytes)});
  rgi_call call;
  rgi_call_begin(&call, RG_OP_ALLTOALL, g, 0);
  rgi_call_block(&call.send, send, send_count, send_type);
  rgi_call_block(&call.recv, recv, recv_count, recv_type);
  return rgi_call_run(&call, __func__);
}

int rg_ialltoall(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                 void *recv, MPI_Count recv_count, MPI_Datatype recv_type, rg_request *request) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_ALLTOALL, g, 0);
  rgi_call_block(&call.send, send, send_count, send_type);
  rgi_call_block(&call.recv, recv, recv_count, recv_type);
  return rgi_call_start(&call, __func__, request);
}

int rg_alltoallv(rg_group g, const void *send, const MPI_Count send_counts[],
                 const MPI_Aint send_displs[], MPI_Datatype send_type, void *recv,
                 const MPI_Count recv_counts[], const MPI_Aint recv_displs[],
                 MPI_Datatype recv_type) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_ALLTOALLV, g, 0);
  rgi_call_vector(&call.send, send, send_counts, send_displs, send_type);
  rgi_call_vector(&call.recv, recv, recv_counts, recv_displs, recv_type);
  return rgi_call_run(&call, __func__);
}

int rg_ialltoallv(rg_group g, const void *send, const MPI_Count send_counts[],
                  const MPI_Aint send_displs[], MPI_Datatype send_type, void *recv,
                  const MPI_Count recv_counts[], const MPI_Aint recv_displs[],
                  MPI_Datatype recv_type, rg_request *request) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_ALLTOALLV, g, 0);
  rgi_call_vector(&call.send, send, send_counts, send_displs, send_type);
  rgi_call_vector(&call.recv, recv, recv_counts, recv_displs, recv_type);
  return rgi_call_start(&call, __func__, request);
}

/* --- barrier and broadcast -------------------------------------------------------------------- */

int rg_barrier(rg_group g) {
  rgi_shared_state *state = rgi_fast_path(RG_OP_BARRIER, g, 1, g, 1, 0);
  if (state)
    return rgi_node_coll_barrier(state, __func__);
  rgi_call call;
  rgi_call_begin(&call, RG_OP_BARRIER, g, 0);
  return rgi_call_run(&call, __func__);
}

int rg_ibarrier(rg_group g, rg_request *request) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_BARRIER, g, 0);
  return rgi_call_start(&call, __func__, request);
}

int rg_bcast(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root) {
  size_t size = rgi_datatype_basic_size(type);
  rgi_shared_state *state = rgi_fast_path(RG_OP_BCAST, g, count, buffer, size, root);
  if (state)
    return rgi_node_coll_bcast(state,
                               rgi_fast_path_way(rgi_algorithms_bcast, g, (size_t)count * size),
                               buffer, (size_t)count * size, root, __func__);
  rgi_call call;
  rgi_call_begin(&call, RG_OP_BCAST, g, root);
  rgi_call_block(&call.recv, buffer, count, type);
  return rgi_call_run(&call, __func__);
}

int rg_ibcast(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root,
              rg_request *request) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_BCAST, g, root);
  rgi_call_block(&call.recv, buffer, count, type);
  return rgi_call_start(&call, __func__, request);
}
