/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Included by fault_persistent.c once for each form of MPI's functions: FORM(name), with counts of
 * type COUNT and displacements of type DISPL. */

RG_API int FORM(MPI_Allgather_init)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                    void *recv, COUNT recv_count, MPI_Datatype recv_type,
                                    MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Allgather_init), send, send_count, send_type, recv, recv_count, recv_type,
             comm, info, request);
}

RG_API int FORM(MPI_Allgatherv_init)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                     void *recv, const COUNT recv_counts[], const DISPL displs[],
                                     MPI_Datatype recv_type, MPI_Comm comm, MPI_Info info,
                                     MPI_Request *request) {
  PERSISTENT(FORM(MPI_Allgatherv_init), send, send_count, send_type, recv, recv_counts, displs,
             recv_type, comm, info, request);
}

RG_API int FORM(MPI_Allreduce_init)(const void *send, void *recv, COUNT count, MPI_Datatype type,
                                    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Allreduce_init), send, recv, count, type, op, comm, info, request);
}

RG_API int FORM(MPI_Alltoall_init)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                   void *recv, COUNT recv_count, MPI_Datatype recv_type,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Alltoall_init), send, send_count, send_type, recv, recv_count, recv_type,
             comm, info, request);
}

RG_API int FORM(MPI_Alltoallv_init)(const void *send, const COUNT send_counts[],
                                    const DISPL send_displs[], MPI_Datatype send_type, void *recv,
                                    const COUNT recv_counts[], const DISPL recv_displs[],
                                    MPI_Datatype recv_type, MPI_Comm comm, MPI_Info info,
                                    MPI_Request *request) {
  PERSISTENT(FORM(MPI_Alltoallv_init), send, send_counts, send_displs, send_type, recv, recv_counts,
             recv_displs, recv_type, comm, info, request);
}

RG_API int FORM(MPI_Alltoallw_init)(const void *send, const COUNT send_counts[],
                                    const DISPL send_displs[], const MPI_Datatype send_types[],
                                    void *recv, const COUNT recv_counts[],
                                    const DISPL recv_displs[], const MPI_Datatype recv_types[],
                                    MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Alltoallw_init), send, send_counts, send_displs, send_types, recv,
             recv_counts, recv_displs, recv_types, comm, info, request);
}

RG_API int FORM(MPI_Bcast_init)(void *buffer, COUNT count, MPI_Datatype type, int root,
                                MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Bcast_init), buffer, count, type, root, comm, info, request);
}

RG_API int FORM(MPI_Exscan_init)(const void *send, void *recv, COUNT count, MPI_Datatype type,
                                 MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Exscan_init), send, recv, count, type, op, comm, info, request);
}

RG_API int FORM(MPI_Gather_init)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                 void *recv, COUNT recv_count, MPI_Datatype recv_type, int root,
                                 MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Gather_init), send, send_count, send_type, recv, recv_count, recv_type, root,
             comm, info, request);
}

RG_API int FORM(MPI_Gatherv_init)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                  void *recv, const COUNT recv_counts[], const DISPL displs[],
                                  MPI_Datatype recv_type, int root, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request) {
  PERSISTENT(FORM(MPI_Gatherv_init), send, send_count, send_type, recv, recv_counts, displs,
             recv_type, root, comm, info, request);
}

RG_API int FORM(MPI_Neighbor_allgather_init)(const void *send, COUNT send_count,
                                             MPI_Datatype send_type, void *recv, COUNT recv_count,
                                             MPI_Datatype recv_type, MPI_Comm comm, MPI_Info info,
                                             MPI_Request *request) {
  PERSISTENT(FORM(MPI_Neighbor_allgather_init), send, send_count, send_type, recv, recv_count,
             recv_type, comm, info, request);
}

RG_API int FORM(MPI_Neighbor_allgatherv_init)(const void *send, COUNT send_count,
                                              MPI_Datatype send_type, void *recv,
                                              const COUNT recv_counts[], const DISPL displs[],
                                              MPI_Datatype recv_type, MPI_Comm comm, MPI_Info info,
                                              MPI_Request *request) {
  PERSISTENT(FORM(MPI_Neighbor_allgatherv_init), send, send_count, send_type, recv, recv_counts,
             displs, recv_type, comm, info, request);
}

RG_API int FORM(MPI_Neighbor_alltoall_init)(const void *send, COUNT send_count,
                                            MPI_Datatype send_type, void *recv, COUNT recv_count,
                                            MPI_Datatype recv_type, MPI_Comm comm, MPI_Info info,
                                            MPI_Request *request) {
  PERSISTENT(FORM(MPI_Neighbor_alltoall_init), send, send_count, send_type, recv, recv_count,
             recv_type, comm, info, request);
}

RG_API int FORM(MPI_Neighbor_alltoallv_init)(const void *send, const COUNT send_counts[],
                                             const DISPL send_displs[], MPI_Datatype send_type,
                                             void *recv, const COUNT recv_counts[],
                                             const DISPL recv_displs[], MPI_Datatype recv_type,
                                             MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Neighbor_alltoallv_init), send, send_counts, send_displs, send_type, recv,
             recv_counts, recv_displs, recv_type, comm, info, request);
}

RG_API int FORM(MPI_Neighbor_alltoallw_init)(const void *send, const COUNT send_counts[],
                                             const MPI_Aint send_displs[],
                                             const MPI_Datatype send_types[], void *recv,
                                             const COUNT recv_counts[],
                                             const MPI_Aint recv_displs[],
                                             const MPI_Datatype recv_types[], MPI_Comm comm,
                                             MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Neighbor_alltoallw_init), send, send_counts, send_displs, send_types, recv,
             recv_counts, recv_displs, recv_types, comm, info, request);
}

RG_API int FORM(MPI_Reduce_init)(const void *send, void *recv, COUNT count, MPI_Datatype type,
                                 MPI_Op op, int root, MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request) {
  PERSISTENT(FORM(MPI_Reduce_init), send, recv, count, type, op, root, comm, info, request);
}

RG_API int FORM(MPI_Reduce_scatter_block_init)(const void *send, void *recv, COUNT recv_count,
                                               MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                               MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Reduce_scatter_block_init), send, recv, recv_count, type, op, comm, info,
             request);
}

RG_API int FORM(MPI_Reduce_scatter_init)(const void *send, void *recv, const COUNT recv_counts[],
                                         MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                         MPI_Request *request) {
  PERSISTENT(FORM(MPI_Reduce_scatter_init), send, recv, recv_counts, type, op, comm, info, request);
}

RG_API int FORM(MPI_Scan_init)(const void *send, void *recv, COUNT count, MPI_Datatype type,
                               MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Scan_init), send, recv, count, type, op, comm, info, request);
}

RG_API int FORM(MPI_Scatter_init)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                  void *recv, COUNT recv_count, MPI_Datatype recv_type, int root,
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Scatter_init), send, send_count, send_type, recv, recv_count, recv_type, root,
             comm, info, request);
}

RG_API int FORM(MPI_Scatterv_init)(const void *send, const COUNT send_counts[],
                                   const DISPL displs[], MPI_Datatype send_type, void *recv,
                                   COUNT recv_count, MPI_Datatype recv_type, int root,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Scatterv_init), send, send_counts, displs, send_type, recv, recv_count,
             recv_type, root, comm, info, request);
}
