/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Included by coll_nonblocking.c once for each form of MPI's functions: FORM(name), with counts of
 * type COUNT and displacements of type DISPL. Where there are no data MPI has nothing to do but in
 * a broadcast, and the choice would take longer than the call. */

RG_API int FORM(MPI_Ibcast)(void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm,
                            MPI_Request *request) {
  const rgi_coll *coll = state_of(comm);
  note_root(coll, root);
  return PASS_ON(RGI_MPICH_IBCAST, is_suited(coll),
                 FORM(PMPI_Ibcast)(buffer, count, type, root, comm, request));
}

RG_API int FORM(MPI_Iscatter)(const void *send, COUNT send_count, MPI_Datatype send_type,
                              void *recv, COUNT recv_count, MPI_Datatype recv_type, int root,
                              MPI_Comm comm, MPI_Request *request) {
  note_root(state_of(comm), root);
  return PASS_ON(RGI_MPICH_ISCATTERV, 0,
                 FORM(PMPI_Iscatter)(send, send_count, send_type, recv, recv_count, recv_type, root,
                                     comm, request));
}

RG_API int FORM(MPI_Iscatterv)(const void *send, const COUNT send_counts[], const DISPL displs[],
                               MPI_Datatype send_type, void *recv, COUNT recv_count,
                               MPI_Datatype recv_type, int root, MPI_Comm comm,
                               MPI_Request *request) {
  const rgi_coll *coll = state_of(comm);
  note_root(coll, root);
  return PASS_ON(RGI_MPICH_ISCATTERV, is_suited(coll),
                 FORM(PMPI_Iscatterv)(send, send_counts, displs, send_type, recv, recv_count,
                                      recv_type, root, comm, request));
}

RG_API int FORM(MPI_Ireduce)(const void *send, void *recv, COUNT count, MPI_Datatype type,
                             MPI_Op op, int root, MPI_Comm comm, MPI_Request *request) {
  return PASS_ON(RGI_MPICH_IREDUCE, count && is_commutative(type, op) && is_suited(state_of(comm)),
                 FORM(PMPI_Ireduce)(send, recv, count, type, op, root, comm, request));
}
