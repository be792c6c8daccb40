/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Included by fault_collectives.c once for each form of MPI's functions: FORM(name), with counts of
 * type COUNT and displacements of type DISPL. */

RG_API int FORM(MPI_Alltoallw)(const void *send, const COUNT send_counts[],
                               const DISPL send_displs[], const MPI_Datatype send_types[],
                               void *recv, const COUNT recv_counts[], const DISPL recv_displs[],
                               const MPI_Datatype recv_types[], MPI_Comm comm) {
  GUARDED(FORM(MPI_Alltoallw), send, send_counts, send_displs, send_types, recv, recv_counts,
          recv_displs, recv_types, comm);
}

RG_API int FORM(MPI_Neighbor_allgather)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                        void *recv, COUNT recv_count, MPI_Datatype recv_type,
                                        MPI_Comm comm) {
  GUARDED(FORM(MPI_Neighbor_allgather), send, send_count, send_type, recv, recv_count, recv_type,
          comm);
}

RG_API int FORM(MPI_Neighbor_allgatherv)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                         void *recv, const COUNT recv_counts[],
                                         const DISPL recv_displs[], MPI_Datatype recv_type,
                                         MPI_Comm comm) {
  GUARDED(FORM(MPI_Neighbor_allgatherv), send, send_count, send_type, recv, recv_counts,
          recv_displs, recv_type, comm);
}

RG_API int FORM(MPI_Neighbor_alltoall)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                       void *recv, COUNT recv_count, MPI_Datatype recv_type,
                                       MPI_Comm comm) {
  GUARDED(FORM(MPI_Neighbor_alltoall), send, send_count, send_type, recv, recv_count, recv_type,
          comm);
}

RG_API int FORM(MPI_Neighbor_alltoallv)(const void *send, const COUNT send_counts[],
                                        const DISPL send_displs[], MPI_Datatype send_type,
                                        void *recv, const COUNT recv_counts[],
                                        const DISPL recv_displs[], MPI_Datatype recv_type,
                                        MPI_Comm comm) {
  GUARDED(FORM(MPI_Neighbor_alltoallv), send, send_counts, send_displs, send_type, recv,
          recv_counts, recv_displs, recv_type, comm);
}

RG_API int FORM(MPI_Neighbor_alltoallw)(const void *send, const COUNT send_counts[],
                                        const MPI_Aint send_displs[],
                                        const MPI_Datatype send_types[], void *recv,
                                        const COUNT recv_counts[], const MPI_Aint recv_displs[],
                                        const MPI_Datatype recv_types[], MPI_Comm comm) {
  GUARDED(FORM(MPI_Neighbor_alltoallw), send, send_counts, send_displs, send_types, recv,
          recv_counts, recv_displs, recv_types, comm);
}

RG_API int FORM(MPI_Ineighbor_allgather)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                         void *recv, COUNT recv_count, MPI_Datatype recv_type,
                                         MPI_Comm comm, MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Ineighbor_allgather), send, send_count, send_type, recv, recv_count,
              recv_type, comm, request);
}

RG_API int FORM(MPI_Ineighbor_allgatherv)(const void *send, COUNT send_count,
                                          MPI_Datatype send_type, void *recv,
                                          const COUNT recv_counts[], const DISPL recv_displs[],
                                          MPI_Datatype recv_type, MPI_Comm comm,
                                          MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Ineighbor_allgatherv), send, send_count, send_type, recv, recv_counts,
              recv_displs, recv_type, comm, request);
}

RG_API int FORM(MPI_Ineighbor_alltoall)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                        void *recv, COUNT recv_count, MPI_Datatype recv_type,
                                        MPI_Comm comm, MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Ineighbor_alltoall), send, send_count, send_type, recv, recv_count,
              recv_type, comm, request);
}

RG_API int FORM(MPI_Ineighbor_alltoallv)(const void *send, const COUNT send_counts[],
                                         const DISPL send_displs[], MPI_Datatype send_type,
                                         void *recv, const COUNT recv_counts[],
                                         const DISPL recv_displs[], MPI_Datatype recv_type,
                                         MPI_Comm comm, MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Ineighbor_alltoallv), send, send_counts, send_displs, send_type, recv,
              recv_counts, recv_displs, recv_type, comm, request);
}

RG_API int FORM(MPI_Ineighbor_alltoallw)(const void *send, const COUNT send_counts[],
                                         const MPI_Aint send_displs[],
                                         const MPI_Datatype send_types[], void *recv,
                                         const COUNT recv_counts[], const MPI_Aint recv_displs[],
                                         const MPI_Datatype recv_types[], MPI_Comm comm,
                                         MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Ineighbor_alltoallw), send, send_counts, send_displs, send_types, recv,
              recv_counts, recv_displs, recv_types, comm, request);
}

RG_API int FORM(MPI_Igather)(const void *send, COUNT send_count, MPI_Datatype send_type, void *recv,
                             COUNT recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm,
                             MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Igather), send, send_count, send_type, recv, recv_count, recv_type, root,
              comm, request);
}

RG_API int FORM(MPI_Igatherv)(const void *send, COUNT send_count, MPI_Datatype send_type,
                              void *recv, const COUNT recv_counts[], const DISPL recv_displs[],
                              MPI_Datatype recv_type, int root, MPI_Comm comm,
                              MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Igatherv), send, send_count, send_type, recv, recv_counts, recv_displs,
              recv_type, root, comm, request);
}

RG_API int FORM(MPI_Iallgather)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                void *recv, COUNT recv_count, MPI_Datatype recv_type, MPI_Comm comm,
                                MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Iallgather), send, send_count, send_type, recv, recv_count, recv_type, comm,
              request);
}

RG_API int FORM(MPI_Iallgatherv)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                 void *recv, const COUNT recv_counts[], const DISPL recv_displs[],
                                 MPI_Datatype recv_type, MPI_Comm comm, MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Iallgatherv), send, send_count, send_type, recv, recv_counts, recv_displs,
              recv_type, comm, request);
}

RG_API int FORM(MPI_Ialltoall)(const void *send, COUNT send_count, MPI_Datatype send_type,
                               void *recv, COUNT recv_count, MPI_Datatype recv_type, MPI_Comm comm,
                               MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Ialltoall), send, send_count, send_type, recv, recv_count, recv_type, comm,
              request);
}

RG_API int FORM(MPI_Ialltoallv)(const void *send, const COUNT send_counts[],
                                const DISPL send_displs[], MPI_Datatype send_type, void *recv,
                                const COUNT recv_counts[], const DISPL recv_displs[],
                                MPI_Datatype recv_type, MPI_Comm comm, MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Ialltoallv), send, send_counts, send_displs, send_type, recv, recv_counts,
              recv_displs, recv_type, comm, request);
}

RG_API int FORM(MPI_Ialltoallw)(const void *send, const COUNT send_counts[],
                                const DISPL send_displs[], const MPI_Datatype send_types[],
                                void *recv, const COUNT recv_counts[], const DISPL recv_displs[],
                                const MPI_Datatype recv_types[], MPI_Comm comm,
                                MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Ialltoallw), send, send_counts, send_displs, send_types, recv, recv_counts,
              recv_displs, recv_types, comm, request);
}

RG_API int FORM(MPI_Iallreduce)(const void *send, void *recv, COUNT count, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm, MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Iallreduce), send, recv, count, type, op, comm, request);
}

RG_API int FORM(MPI_Ireduce_scatter)(const void *send, void *recv, const COUNT counts[],
                                     MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                     MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Ireduce_scatter), send, recv, counts, type, op, comm, request);
}

RG_API int FORM(MPI_Ireduce_scatter_block)(const void *send, void *recv, COUNT count,
                                           MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                           MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Ireduce_scatter_block), send, recv, count, type, op, comm, request);
}

RG_API int FORM(MPI_Iscan)(const void *send, void *recv, COUNT count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm, MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Iscan), send, recv, count, type, op, comm, request);
}

RG_API int FORM(MPI_Iexscan)(const void *send, void *recv, COUNT count, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm, MPI_Request *request) {
  NONBLOCKING(FORM(MPI_Iexscan), send, recv, count, type, op, comm, request);
}
