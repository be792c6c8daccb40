/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gather, scatter, allgather and all-to-all with their vector forms, as the user calls them:
 * the operations in which members exchange blocks. */
#include "collectives/call.h"

int rg_gather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
              void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_GATHER, g, root);
  rgi_call_block(&c.send, send, send_count, send_type);
  rgi_call_block(&c.recv, recv, recv_count, recv_type);
  return rgi_call_run(&c, __func__);
}

int rg_igather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
               void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root,
               rg_request *request) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_GATHER, g, root);
  rgi_call_block(&c.send, send, send_count, send_type);
  rgi_call_block(&c.recv, recv, recv_count, recv_type);
  return rgi_call_start(&c, __func__, request);
}

int rg_gatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
               void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
               MPI_Datatype recv_type, int root) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_GATHERV, g, root);
  rgi_call_block(&c.send, send, send_count, send_type);
  rgi_call_vector(&c.recv, recv, recv_counts, displs, recv_type);
  return rgi_call_run(&c, __func__);
}

int rg_igatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                MPI_Datatype recv_type, int root, rg_request *request) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_GATHERV, g, root);
  rgi_call_block(&c.send, send, send_count, send_type);
  rgi_call_vector(&c.recv, recv, recv_counts, displs, recv_type);
  return rgi_call_start(&c, __func__, request);
}

int rg_scatter(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
               void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_SCATTER, g, root);
  rgi_call_block(&c.send, send, send_count, send_type);
  rgi_call_block(&c.recv, recv, recv_count, recv_type);
  return rgi_call_run(&c, __func__);
}

int rg_iscatter(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root,
                rg_request *request) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_SCATTER, g, root);
  rgi_call_block(&c.send, send, send_count, send_type);
  rgi_call_block(&c.recv, recv, recv_count, recv_type);
  return rgi_call_start(&c, __func__, request);
}

int rg_scatterv(rg_group g, const void *send, const MPI_Count send_counts[],
                const MPI_Aint displs[], MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                MPI_Datatype recv_type, int root) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_SCATTERV, g, root);
  rgi_call_vector(&c.send, send, send_counts, displs, send_type);
  rgi_call_block(&c.recv, recv, recv_count, recv_type);
  return rgi_call_run(&c, __func__);
}

int rg_iscatterv(rg_group g, const void *send, const MPI_Count send_counts[],
                 const MPI_Aint displs[], MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                 MPI_Datatype recv_type, int root, rg_request *request) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_SCATTERV, g, root);
  rgi_call_vector(&c.send, send, send_counts, displs, send_type);
  rgi_call_block(&c.recv, recv, recv_count, recv_type);
  return rgi_call_start(&c, __func__, request);
}

int rg_allgather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                 void *recv, MPI_Count recv_count, MPI_Datatype recv_type) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_ALLGATHER, g, 0);
  rgi_call_block(&c.send, send, send_count, send_type);
  rgi_call_block(&c.recv, recv, recv_count, recv_type);
  return rgi_call_run(&c, __func__);
}

int rg_iallgather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                  void *recv, MPI_Count recv_count, MPI_Datatype recv_type, rg_request *request) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_ALLGATHER, g, 0);
  rgi_call_block(&c.send, send, send_count, send_type);
  rgi_call_block(&c.recv, recv, recv_count, recv_type);
  return rgi_call_start(&c, __func__, request);
}

int rg_allgatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                  void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                  MPI_Datatype recv_type) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_ALLGATHERV, g, 0);
  rgi_call_block(&c.send, send, send_count, send_type);
  rgi_call_vector(&c.recv, recv, recv_counts, displs, recv_type);
  return rgi_call_run(&c, __func__);
}

int rg_iallgatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                   void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                   MPI_Datatype recv_type, rg_request *request) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_ALLGATHERV, g, 0);
  rgi_call_block(&c.send, send, send_count, send_type);
  rgi_call_vector(&c.recv, recv, recv_counts, displs, recv_type);
  return rgi_call_start(&c, __func__, request);
}

int rg_alltoall(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                void *recv, MPI_Count recv_count, MPI_Datatype recv_type) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_ALLTOALL, g, 0);
  rgi_call_block(&c.send, send, send_count, send_type);
  rgi_call_block(&c.recv, recv, recv_count, recv_type);
  return rgi_call_run(&c, __func__);
}

int rg_ialltoall(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                 void *recv, MPI_Count recv_count, MPI_Datatype recv_type, rg_request *request) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_ALLTOALL, g, 0);
  rgi_call_block(&c.send, send, send_count, send_type);
  rgi_call_block(&c.recv, recv, recv_count, recv_type);
  return rgi_call_start(&c, __func__, request);
}

int rg_alltoallv(rg_group g, const void *send, const MPI_Count send_counts[],
                 const MPI_Aint send_displs[], MPI_Datatype send_type, void *recv,
                 const MPI_Count recv_counts[], const MPI_Aint recv_displs[],
                 MPI_Datatype recv_type) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_ALLTOALLV, g, 0);
  rgi_call_vector(&c.send, send, send_counts, send_displs, send_type);
  rgi_call_vector(&c.recv, recv, recv_counts, recv_displs, recv_type);
  return rgi_call_run(&c, __func__);
}

int rg_ialltoallv(rg_group g, const void *send, const MPI_Count send_counts[],
                  const MPI_Aint send_displs[], MPI_Datatype send_type, void *recv,
                  const MPI_Count recv_counts[], const MPI_Aint recv_displs[],
                  MPI_Datatype recv_type, rg_request *request) {
  rgi_call c;
  rgi_call_begin(&c, RG_OP_ALLTOALLV, g, 0);
  rgi_call_vector(&c.send, send, send_counts, send_displs, send_type);
  rgi_call_vector(&c.recv, recv, recv_counts, recv_displs, recv_type);
  return rgi_call_start(&c, __func__, request);
}
