/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Included by coll_regular.c once for each form of MPI's functions: FORM(name), with counts of
 * type COUNT. */

RG_API int FORM(MPI_Bcast)(void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm) {
  SERVE(BCAST, 1, buffer == MPI_IN_PLACE, rgi_coll_check_type(type),
        rg_bcast(g, buffer, count, type, root), FORM(PMPI_Bcast)(buffer, count, type, root, comm));
}

RG_API int FORM(MPI_Reduce)(const void *send, void *recv, COUNT count, MPI_Datatype type, MPI_Op op,
                            int root, MPI_Comm comm) {
  SERVE(REDUCE, send != MPI_IN_PLACE, send == MPI_IN_PLACE && g->me != root,
        rgi_coll_check_reduction(send, g->me == root ? recv : NULL, count, type, op),
        rg_reduce(g, send, recv, count, type, op, root),
        FORM(PMPI_Reduce)(send, recv, count, type, op, root, comm));
}

RG_API int FORM(MPI_Allreduce)(const void *send, void *recv, COUNT count, MPI_Datatype type,
                               MPI_Op op, MPI_Comm comm) {
  SERVE(ALLREDUCE, send != MPI_IN_PLACE, 0, rgi_coll_check_reduction(send, recv, count, type, op),
        rg_allreduce(g, send, recv, count, type, op),
        FORM(PMPI_Allreduce)(send, recv, count, type, op, comm));
}

RG_API int FORM(MPI_Gather)(const void *send, COUNT send_count, MPI_Datatype send_type, void *recv,
                            COUNT recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) {
  SERVE(GATHER, 1, send == MPI_IN_PLACE && g->me != root,
        rgi_coll_check_sides(
            SIDE(1, send, 0, send_count, send_type),
            SIDE(g->me == root, recv, (MPI_Count)g->me * recv_count, recv_count, recv_type)),
        rg_gather(g, send, send_count, send_type, recv, recv_count, recv_type, root),
        FORM(PMPI_Gather)(send, send_count, send_type, recv, recv_count, recv_type, root, comm));
}

RG_API int FORM(MPI_Scatter)(const void *send, COUNT send_count, MPI_Datatype send_type, void *recv,
                             COUNT recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) {
  SERVE(SCATTER, 1, recv == MPI_IN_PLACE && g->me != root,
        rgi_coll_check_sides(
            SIDE(g->me == root, send, (MPI_Count)g->me * send_count, send_count, send_type),
            SIDE(1, recv, 0, recv_count, recv_type)),
        rg_scatter(g, send, send_count, send_type, recv, recv_count, recv_type, root),
        FORM(PMPI_Scatter)(send, send_count, send_type, recv, recv_count, recv_type, root, comm));
}

RG_API int FORM(MPI_Allgather)(const void *send, COUNT send_count, MPI_Datatype send_type,
                               void *recv, COUNT recv_count, MPI_Datatype recv_type,
                               MPI_Comm comm) {
  SERVE(ALLGATHER, 1, 0,
        rgi_coll_check_sides(SIDE(1, send, 0, send_count, send_type),
                             SIDE(1, recv, (MPI_Count)g->me * recv_count, recv_count, recv_type)),
        rg_allgather(g, send, send_count, send_type, recv, recv_count, recv_type),
        FORM(PMPI_Allgather)(send, send_count, send_type, recv, recv_count, recv_type, comm));
}

RG_API int FORM(MPI_Alltoall)(const void *send, COUNT send_count, MPI_Datatype send_type,
                              void *recv, COUNT recv_count, MPI_Datatype recv_type, MPI_Comm comm) {
  SERVE(ALLTOALL, send != MPI_IN_PLACE, 0,
        rgi_coll_check_sides(SIDE(1, send, 0, send_count, send_type),
                             SIDE(1, recv, 0, recv_count, recv_type)),
        rg_alltoall(g, send, send_count, send_type, recv, recv_count, recv_type),
        FORM(PMPI_Alltoall)(send, send_count, send_type, recv, recv_count, recv_type, comm));
}

RG_API int FORM(MPI_Reduce_scatter_block)(const void *send, void *recv, COUNT count,
                                          MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  SERVE(REDUCE_SCATTER_BLOCK, send != MPI_IN_PLACE, 0,
        rgi_coll_check_reduction(send, recv, count, type, op),
        rg_reduce_scatter_block(g, send, recv, count, type, op),
        FORM(PMPI_Reduce_scatter_block)(send, recv, count, type, op, comm));
}

RG_API int FORM(MPI_Scan)(const void *send, void *recv, COUNT count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
  SERVE(SCAN, send != MPI_IN_PLACE, 0, rgi_coll_check_reduction(send, recv, count, type, op),
        rg_scan(g, send, recv, count, type, op),
        FORM(PMPI_Scan)(send, recv, count, type, op, comm));
}

RG_API int FORM(MPI_Exscan)(const void *send, void *recv, COUNT count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm) {
  SERVE(EXSCAN, send != MPI_IN_PLACE, 0, rgi_coll_check_reduction(send, recv, count, type, op),
        rg_exscan(g, send, recv, count, type, op),
        FORM(PMPI_Exscan)(send, recv, count, type, op, comm));
}
