/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The MPI view of a group: a communicator, made at the first request, and its MPI group. */
#include <regroup/comm.h>

#include "base/error.h"
#include "formation/comm.h"
#include "formation/group.h"
#include "formation/mpi_group.h"
#include "runtime/runtime.h"
#include "shm/failure.h"
#include "shm/process.h"

int rg_group_comm(rg_group g, MPI_Comm *comm) {
  MPI_Group group;
  RGI_REQUIRE(comm);
  RGI_TRY(rgi_group_check_member(__func__, g));
  if (g->comm == MPI_COMM_NULL) {
    /* MPI would wait for a dead member for ever. */
    rgi_process_check_now();
    RGI_TRY(rgi_failure_check(&rgi_failure_scope_now, __func__));
    RGI_TRY(rgi_mpi_group_of(g->members, &group));
    const rgi_comm_creation asked = {.call = __func__,
                                     .comm = rgi_runtime.comm,
                                     .group = group,
                                     .tag = rgi_comm_creation_tag(g->context),
                                     .method = RG_METHOD_AUTO};
    int error = rgi_comm_create_group(&asked, &g->comm);
    MPI_Group_free(&group);
    if (error)
      return error;
    MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_ARE_FATAL);
    if (g->label)
      MPI_Comm_set_name(g->comm, rgi_label_name(g->label));
  }
  *comm = g->comm;
  return RG_SUCCESS;
}

int rg_group_mpi_group(rg_group g, MPI_Group *mpi) {
  RGI_REQUIRE(mpi);
  RGI_TRY(rgi_runtime_check(__func__));
  RGI_TRY(rgi_group_check_epoch(__func__, g));
  return rgi_mpi_group_of(g->members, mpi);
}
