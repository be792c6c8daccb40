/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Included by coll_vector.c once for each form of MPI's functions: FORM(name), with counts of
 * type COUNT and displacements of type DISPL, which CONVERT converts to the
 * library's types. */

RG_API int FORM(MPI_Gatherv)(const void *send, COUNT send_count, MPI_Datatype send_type, void *recv,
                             const COUNT recv_counts[], const DISPL displs[],
                             MPI_Datatype recv_type, int root, MPI_Comm comm) {
  rg_group g = rgi_intercept_group(RGI_INTERCEPT_GATHERV, comm);
  int answer, gets = g && g->me == root;
  if (!g && rgi_intercept_refused(RGI_INTERCEPT_GATHERV, comm, &answer))
    return answer;
  if (gets && (!recv_counts || !displs))
    return refuse_null(RGI_INTERCEPT_GATHERV, comm);
  if (g && !gets && send == MPI_IN_PLACE)
    return rgi_intercept_misplaced(RGI_INTERCEPT_GATHERV, comm);
  if (g &&
      !rgi_coll_check_sides(rgi_coll_check_side_of(send, 0, send_count, send_type),
                            rgi_coll_check_side_of(recv, gets ? displs[g->me] : 0,
                                                   gets ? recv_counts[g->me] : -1, recv_type))) {
    rgi_large_counts r = {NULL, NULL, NULL};
    int error = gets ? CONVERT(g, recv_counts, displs, &r) : RG_SUCCESS;
    if (!error)
      error = rg_gatherv(g, send, send_count, send_type, recv, r.counts, r.displs, recv_type, root);
    rgi_spare_free(r.storage);
    if (error && rgi_intercept_again(RGI_INTERCEPT_GATHERV, comm, g, error, 1))
      return FORM(MPI_Gatherv)(send, send_count, send_type, recv, recv_counts, displs, recv_type,
                               root, comm);
    if (rgi_intercept_end(RGI_INTERCEPT_GATHERV, comm, error, &answer))
      return answer;
  }
  return RGI_INTERCEPT_PASS(comm, FORM(PMPI_Gatherv)(send, send_count, send_type, recv, recv_counts,
                                                     displs, recv_type, root, comm));
}

RG_API int FORM(MPI_Scatterv)(const void *send, const COUNT send_counts[], const DISPL displs[],
                              MPI_Datatype send_type, void *recv, COUNT recv_count,
                              MPI_Datatype recv_type, int root, MPI_Comm comm) {
  rg_group g = rgi_intercept_group(RGI_INTERCEPT_SCATTERV, comm);
  int answer, gives = g && g->me == root;
  if (!g && rgi_intercept_refused(RGI_INTERCEPT_SCATTERV, comm, &answer))
    return answer;
  if (gives && (!send_counts || !displs))
    return refuse_null(RGI_INTERCEPT_SCATTERV, comm);
  if (g && !gives && recv == MPI_IN_PLACE)
    return rgi_intercept_misplaced(RGI_INTERCEPT_SCATTERV, comm);
  if (g && !rgi_coll_check_sides(rgi_coll_check_side_of(send, gives ? displs[g->me] : 0,
                                                        gives ? send_counts[g->me] : -1, send_type),
                                 rgi_coll_check_side_of(recv, 0, recv_count, recv_type))) {
    rgi_large_counts s = {NULL, NULL, NULL};
    int error = gives ? CONVERT(g, send_counts, displs, &s) : RG_SUCCESS;
    if (!error)
      error =
          rg_scatterv(g, send, s.counts, s.displs, send_type, recv, recv_count, recv_type, root);
    rgi_spare_free(s.storage);
    if (error && rgi_intercept_again(RGI_INTERCEPT_SCATTERV, comm, g, error, 1))
      return FORM(MPI_Scatterv)(send, send_counts, displs, send_type, recv, recv_count, recv_type,
                                root, comm);
    if (rgi_intercept_end(RGI_INTERCEPT_SCATTERV, comm, error, &answer))
      return answer;
  }
  return RGI_INTERCEPT_PASS(comm, FORM(PMPI_Scatterv)(send, send_counts, displs, send_type, recv,
                                                      recv_count, recv_type, root, comm));
}

RG_API int FORM(MPI_Allgatherv)(const void *send, COUNT send_count, MPI_Datatype send_type,
                                void *recv, const COUNT recv_counts[], const DISPL displs[],
                                MPI_Datatype recv_type, MPI_Comm comm) {
  rg_group g = rgi_intercept_group(RGI_INTERCEPT_ALLGATHERV, comm);
  int answer;
  if (!g && rgi_intercept_refused(RGI_INTERCEPT_ALLGATHERV, comm, &answer))
    return answer;
  if (g && (!recv_counts || !displs))
    return refuse_null(RGI_INTERCEPT_ALLGATHERV, comm);
  if (g && !rgi_coll_check_sides(
               rgi_coll_check_side_of(send, 0, send_count, send_type),
               rgi_coll_check_side_of(recv, displs[g->me], recv_counts[g->me], recv_type))) {
    rgi_large_counts r;
    int error = CONVERT(g, recv_counts, displs, &r);
    if (!error)
      error = rg_allgatherv(g, send, send_count, send_type, recv, r.counts, r.displs, recv_type);
    rgi_spare_free(r.storage);
    if (error && rgi_intercept_again(RGI_INTERCEPT_ALLGATHERV, comm, g, error, 1))
      return FORM(MPI_Allgatherv)(send, send_count, send_type, recv, recv_counts, displs, recv_type,
                                  comm);
    if (rgi_intercept_end(RGI_INTERCEPT_ALLGATHERV, comm, error, &answer))
      return answer;
  }
  return RGI_INTERCEPT_PASS(comm, FORM(PMPI_Allgatherv)(send, send_count, send_type, recv,
                                                        recv_counts, displs, recv_type, comm));
}

RG_API int FORM(MPI_Alltoallv)(const void *send, const COUNT send_counts[],
                               const DISPL send_displs[], MPI_Datatype send_type, void *recv,
                               const COUNT recv_counts[], const DISPL recv_displs[],
                               MPI_Datatype recv_type, MPI_Comm comm) {
  rg_group g = rgi_intercept_group(RGI_INTERCEPT_ALLTOALLV, comm);
  int answer, gives = send != MPI_IN_PLACE;
  if (!g && rgi_intercept_refused(RGI_INTERCEPT_ALLTOALLV, comm, &answer))
    return answer;
  if (g && (!recv_counts || !recv_displs || (gives && (!send_counts || !send_displs))))
    return refuse_null(RGI_INTERCEPT_ALLTOALLV, comm);
  if (g && !rgi_coll_check_sides(
               rgi_coll_check_side_of(send, 0, gives, send_type),
               rgi_coll_check_side_of(recv, 0, send_counts == recv_counts, recv_type))) {
    rgi_large_counts r, s = {NULL, NULL, NULL};
    int error = CONVERT(g, recv_counts, recv_displs, &r);
    if (!error && send != MPI_IN_PLACE)
      error = CONVERT(g, send_counts, send_displs, &s);
    if (!error)
      error =
          rg_alltoallv(g, send, s.counts, s.displs, send_type, recv, r.counts, r.displs, recv_type);
    rgi_spare_free(r.storage);
    rgi_spare_free(s.storage);
    if (error && rgi_intercept_again(RGI_INTERCEPT_ALLTOALLV, comm, g, error, send != MPI_IN_PLACE))
      return FORM(MPI_Alltoallv)(send, send_counts, send_displs, send_type, recv, recv_counts,
                                 recv_displs, recv_type, comm);
    if (rgi_intercept_end(RGI_INTERCEPT_ALLTOALLV, comm, error, &answer))
      return answer;
  }
  return RGI_INTERCEPT_PASS(comm,
                            FORM(PMPI_Alltoallv)(send, send_counts, send_displs, send_type, recv,
                                                 recv_counts, recv_displs, recv_type, comm));
}

static int FORM(has_counts)(rg_group g, const COUNT counts[]) {
  for (int i = 0; i < rgi_members_count(g->members); i++)
    if (counts[i])
      return 1;
  return 0;
}

RG_API int FORM(MPI_Reduce_scatter)(const void *send, void *recv, const COUNT counts[],
                                    MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  rg_group g = rgi_intercept_group(RGI_INTERCEPT_REDUCE_SCATTER, comm);
  int answer;
  if (!g && rgi_intercept_refused(RGI_INTERCEPT_REDUCE_SCATTER, comm, &answer))
    return answer;
  if (g && !counts)
    return refuse_null(RGI_INTERCEPT_REDUCE_SCATTER, comm);
  if (g && !rgi_coll_check_reduction(send, recv, FORM(has_counts)(g, counts), type, op)) {
    rgi_large_counts r;
    int error = CONVERT(g, counts, NULL, &r);
    if (!error)
      error = rg_reduce_scatter(g, send, recv, r.counts, type, op);
    rgi_spare_free(r.storage);
    if (error &&
        rgi_intercept_again(RGI_INTERCEPT_REDUCE_SCATTER, comm, g, error, send != MPI_IN_PLACE))
      return FORM(MPI_Reduce_scatter)(send, recv, counts, type, op, comm);
    if (rgi_intercept_end(RGI_INTERCEPT_REDUCE_SCATTER, comm, error, &answer))
      return answer;
  }
  return RGI_INTERCEPT_PASS(comm, FORM(PMPI_Reduce_scatter)(send, recv, counts, type, op, comm));
}
