/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gather, scatter, allgather and all-to-all with their vector forms, as the user calls them:
 * the operations in which members exchange blocks. */
#include "base/error.h"
#include "collectives/call.h"

/* root is 0 where there is none. */
static rgi_call blocks_call(rg_operation operation, const char *name, rg_group g, const void *send,
                            MPI_Count send_count, MPI_Datatype send_type, void *recv,
                            MPI_Count recv_count, MPI_Datatype recv_type, int root) {
  return (rgi_call){.operation = operation,
                    .name = name,
                    .group = g,
                    .root = root,
                    .send = send,
                    .send_count = send_count,
                    .send_type = send_type,
                    .recv = recv,
                    .recv_count = recv_count,
                    .recv_type = recv_type};
}

int rg_gather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
              void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root) {
  rgi_call c = blocks_call(RG_OP_GATHER, __func__, g, send, send_count, send_type, recv, recv_count,
                           recv_type, root);
  return rgi_call_run(&c, NULL);
}

int rg_igather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
               void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root,
               rg_request *request) {
  rgi_call c = blocks_call(RG_OP_GATHER, __func__, g, send, send_count, send_type, recv, recv_count,
                           recv_type, root);
  return RGI_CALL_START(c, request);
}

static rgi_call gatherv_call(const char *name, rg_group g, const void *send, MPI_Count send_count,
                             MPI_Datatype send_type, void *recv, const MPI_Count recv_counts[],
                             const MPI_Aint displs[], MPI_Datatype recv_type, int root) {
  rgi_call c =
      blocks_call(RG_OP_GATHERV, name, g, send, send_count, send_type, recv, 0, recv_type, root);
  c.recv_counts = recv_counts;
  c.recv_displs = displs;
  return c;
}

int rg_gatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
               void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
               MPI_Datatype recv_type, int root) {
  rgi_call c = gatherv_call(__func__, g, send, send_count, send_type, recv, recv_counts, displs,
                            recv_type, root);
  return rgi_call_run(&c, NULL);
}

int rg_igatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                MPI_Datatype recv_type, int root, rg_request *request) {
  rgi_call c = gatherv_call(__func__, g, send, send_count, send_type, recv, recv_counts, displs,
                            recv_type, root);
  return RGI_CALL_START(c, request);
}

int rg_scatter(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
               void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root) {
  rgi_call c = blocks_call(RG_OP_SCATTER, __func__, g, send, send_count, send_type, recv,
                           recv_count, recv_type, root);
  return rgi_call_run(&c, NULL);
}

int rg_iscatter(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root,
                rg_request *request) {
  rgi_call c = blocks_call(RG_OP_SCATTER, __func__, g, send, send_count, send_type, recv,
                           recv_count, recv_type, root);
  return RGI_CALL_START(c, request);
}

static rgi_call scatterv_call(const char *name, rg_group g, const void *send,
                              const MPI_Count send_counts[], const MPI_Aint displs[],
                              MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                              MPI_Datatype recv_type, int root) {
  rgi_call c =
      blocks_call(RG_OP_SCATTERV, name, g, send, 0, send_type, recv, recv_count, recv_type, root);
  c.send_counts = send_counts;
  c.send_displs = displs;
  return c;
}

int rg_scatterv(rg_group g, const void *send, const MPI_Count send_counts[],
                const MPI_Aint displs[], MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                MPI_Datatype recv_type, int root) {
  rgi_call c = scatterv_call(__func__, g, send, send_counts, displs, send_type, recv, recv_count,
                             recv_type, root);
  return rgi_call_run(&c, NULL);
}

int rg_iscatterv(rg_group g, const void *send, const MPI_Count send_counts[],
                 const MPI_Aint displs[], MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                 MPI_Datatype recv_type, int root, rg_request *request) {
  rgi_call c = scatterv_call(__func__, g, send, send_counts, displs, send_type, recv, recv_count,
                             recv_type, root);
  return RGI_CALL_START(c, request);
}

int rg_allgather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                 void *recv, MPI_Count recv_count, MPI_Datatype recv_type) {
  rgi_call c = blocks_call(RG_OP_ALLGATHER, __func__, g, send, send_count, send_type, recv,
                           recv_count, recv_type, 0);
  return rgi_call_run(&c, NULL);
}

int rg_iallgather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                  void *recv, MPI_Count recv_count, MPI_Datatype recv_type, rg_request *request) {
  rgi_call c = blocks_call(RG_OP_ALLGATHER, __func__, g, send, send_count, send_type, recv,
                           recv_count, recv_type, 0);
  return RGI_CALL_START(c, request);
}

static rgi_call allgatherv_call(const char *name, rg_group g, const void *send,
                                MPI_Count send_count, MPI_Datatype send_type, void *recv,
                                const MPI_Count recv_counts[], const MPI_Aint displs[],
                                MPI_Datatype recv_type) {
  rgi_call c =
      blocks_call(RG_OP_ALLGATHERV, name, g, send, send_count, send_type, recv, 0, recv_type, 0);
  c.recv_counts = recv_counts;
  c.recv_displs = displs;
  return c;
}

int rg_allgatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                  void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                  MPI_Datatype recv_type) {
  rgi_call c = allgatherv_call(__func__, g, send, send_count, send_type, recv, recv_counts, displs,
                               recv_type);
  return rgi_call_run(&c, NULL);
}

int rg_iallgatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                   void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                   MPI_Datatype recv_type, rg_request *request) {
  rgi_call c = allgatherv_call(__func__, g, send, send_count, send_type, recv, recv_counts, displs,
                               recv_type);
  return RGI_CALL_START(c, request);
}

int rg_alltoall(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                void *recv, MPI_Count recv_count, MPI_Datatype recv_type) {
  rgi_call c = blocks_call(RG_OP_ALLTOALL, __func__, g, send, send_count, send_type, recv,
                           recv_count, recv_type, 0);
  return rgi_call_run(&c, NULL);
}

int rg_ialltoall(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                 void *recv, MPI_Count recv_count, MPI_Datatype recv_type, rg_request *request) {
  rgi_call c = blocks_call(RG_OP_ALLTOALL, __func__, g, send, send_count, send_type, recv,
                           recv_count, recv_type, 0);
  return RGI_CALL_START(c, request);
}

static rgi_call alltoallv_call(const char *name, rg_group g, const void *send,
                               const MPI_Count send_counts[], const MPI_Aint send_displs[],
                               MPI_Datatype send_type, void *recv, const MPI_Count recv_counts[],
                               const MPI_Aint recv_displs[], MPI_Datatype recv_type) {
  rgi_call c = blocks_call(RG_OP_ALLTOALLV, name, g, send, 0, send_type, recv, 0, recv_type, 0);
  c.send_counts = send_counts;
  c.send_displs = send_displs;
  c.recv_counts = recv_counts;
  c.recv_displs = recv_displs;
  return c;
}

int rg_alltoallv(rg_group g, const void *send, const MPI_Count send_counts[],
                 const MPI_Aint send_displs[], MPI_Datatype send_type, void *recv,
                 const MPI_Count recv_counts[], const MPI_Aint recv_displs[],
                 MPI_Datatype recv_type) {
  rgi_call c = alltoallv_call(__func__, g, send, send_counts, send_displs, send_type, recv,
                              recv_counts, recv_displs, recv_type);
  return rgi_call_run(&c, NULL);
}

int rg_ialltoallv(rg_group g, const void *send, const MPI_Count send_counts[],
                  const MPI_Aint send_displs[], MPI_Datatype send_type, void *recv,
                  const MPI_Count recv_counts[], const MPI_Aint recv_displs[],
                  MPI_Datatype recv_type, rg_request *request) {
  rgi_call c = alltoallv_call(__func__, g, send, send_counts, send_displs, send_type, recv,
                              recv_counts, recv_displs, recv_type);
  return RGI_CALL_START(c, request);
}
