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
  const rgi_coll *coll = state_of(comm);
  note_root(coll, root);
  return PASS_ON(RGI_MPICH_ISCATTER,
                 is_suited(coll) &&
                     (coll->all.me == root && recv == MPI_IN_PLACE ? send_count : recv_count),
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

RG_API int FORM(MPI_Iallgather)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                void *recv, COUNT recv_count, MPI_Datatype recv_type, MPI_Comm comm,
                                MPI_Request *request) {
  return PASS_ON(RGI_MPICH_IALLGATHER, recv_count && is_suited(state_of(comm)),
                 FORM(PMPI_Iallgather)(send, send_count, send_type, recv, recv_count, recv_type,
                                       comm, request));
}

/* With this algorithm the members send messages even where no member has data. */
static int FORM(has_data)(const rgi_coll *coll, const COUNT counts[]) {
  for (int i = 0; coll && counts && i < coll->all.size; i++)
    if (counts[i])
      return 1;
  return 0;
}

RG_API int FORM(MPI_Iallgatherv)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                 void *recv, const COUNT recv_counts[], const DISPL displs[],
                                 MPI_Datatype recv_type, MPI_Comm comm, MPI_Request *request) {
  const rgi_coll *coll = state_of(comm);
  return PASS_ON(RGI_MPICH_IALLGATHERV, is_suited(coll) && FORM(has_data)(coll, recv_counts),
                 FORM(PMPI_Iallgatherv)(send, send_count, send_type, recv, recv_counts, displs,
                                        recv_type, comm, request));
}

RG_API int FORM(MPI_Ireduce)(const void *send, void *recv, COUNT count, MPI_Datatype type,
                             MPI_Op op, int root, MPI_Comm comm, MPI_Request *request) {
  return PASS_ON(RGI_MPICH_IREDUCE, count && is_commutative(op) && is_suited(state_of(comm)),
                 FORM(PMPI_Ireduce)(send, recv, count, type, op, root, comm, request));
}

RG_API int FORM(MPI_Iscan)(const void *send, void *recv, COUNT count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm, MPI_Request *request) {
  return PASS_ON(RGI_MPICH_ISCAN, count && is_suited(state_of(comm)),
                 FORM(PMPI_Iscan)(send, recv, count, type, op, comm, request));
}
