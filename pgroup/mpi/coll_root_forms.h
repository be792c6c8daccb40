/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Included by coll_root.c once for each form of MPI's functions: FORM(name), with counts of type
 * COUNT and displacements of type DISPL. */

RG_API int FORM(MPI_Ibcast)(void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm,
                            MPI_Request *request) {
  note_root(comm, root);
  return FORM(PMPI_Ibcast)(buffer, count, type, root, comm, request);
}

RG_API int FORM(MPI_Iscatter)(const void *send, COUNT send_count, MPI_Datatype send_type,
                              void *recv, COUNT recv_count, MPI_Datatype recv_type, int root,
                              MPI_Comm comm, MPI_Request *request) {
  note_root(comm, root);
  return FORM(PMPI_Iscatter)(send, send_count, send_type, recv, recv_count, recv_type, root, comm,
                             request);
}

RG_API int FORM(MPI_Iscatterv)(const void *send, const COUNT send_counts[], const DISPL displs[],
                               MPI_Datatype send_type, void *recv, COUNT recv_count,
                               MPI_Datatype recv_type, int root, MPI_Comm comm,
                               MPI_Request *request) {
  note_root(comm, root);
  return FORM(PMPI_Iscatterv)(send, send_counts, displs, send_type, recv, recv_count, recv_type,
                              root, comm, request);
}
