/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The MPI view of a group, made when somebody asks for it. */
#include "base/error.h"
#include "formation/comm.h"
#include "formation/group.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"
#include "shm/failure.h"
#include "shm/process.h"
#include <regroup/comm.h>
#include <stdlib.h>

int rgi_comm_mpi_group(const rgi_members *m, MPI_Group *group) {
  int first, stride, n = rgi_members_count(m);
  if (rgi_members_is_range(m, &first, &stride)) {
    int range[1][3] = {{first, rgi_members_at(m, n - 1), stride}};
    RGI_TRY_MPI(MPI_Group_range_incl(rgi_runtime.mpi_group, 1, range, group));
    return RG_SUCCESS;
  }
  int *ranks = malloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d members", n);
  for (int i = 0; i < n; i++)
    ranks[i] = rgi_members_at(m, i);
  int error =
      rgi_mpi_error(MPI_Group_incl(rgi_runtime.mpi_group, n, ranks, group), "MPI_Group_incl");
  free(ranks);
  return error;
}

int rgi_comm_creation_tag(uint64_t number) {
  int *most, found = 0;
  MPI_Comm_get_attr(rgi_runtime.comm, MPI_TAG_UB, &most, &found);
  return (int)(number % (found ? (uint64_t)*most + 1 : 32768));
}

int rg_group_comm(rg_group g, MPI_Comm *comm) {
  MPI_Group group;
  RGI_REQUIRE(comm);
  RGI_TRY(rgi_group_check_member(__func__, g));
  if (g->comm == MPI_COMM_NULL) {
    /* MPI would wait for the dead for ever. */
    rgi_process_check_now();
    RGI_TRY(rgi_failure_check(&rgi_failure_scope_now, __func__));
    RGI_TRY(rgi_comm_mpi_group(g->members, &group));
    int error = rgi_comm_create_group(__func__, rgi_runtime.comm, group,
                                      rgi_comm_creation_tag(g->context), RG_METHOD_AUTO, &g->comm);
    MPI_Group_free(&group);
    if (error)
      return error;
    MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_ARE_FATAL);
  }
  *comm = g->comm;
  return RG_SUCCESS;
}
