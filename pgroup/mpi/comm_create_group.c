/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_Comm_create_group, served by rg_comm_create_group. The members' messages go over a
 * communicator of the library: on its own one the application may have a receive of any message
 * open. */
#include <regroup/comm.h>

#include "base/error.h"
#include "formation/failure_scope.h"
#include "formation/mpi_group.h"
#include "mpi/intercept.h"
#include "runtime/runtime.h"

/* Whether all of group is in comm; if not, MPI reports the error. A member without memory to find
 * out must not go another way than the others: the creation reports it to all. */
static int comm_holds_group(MPI_Comm comm, MPI_Group group) {
  MPI_Group all;
  if (group == MPI_GROUP_NULL)
    return 0;
  if (PMPI_Comm_group(comm, &all) != MPI_SUCCESS)
    return 1;
  int holds = rgi_mpi_group_is_among(group, all);
  PMPI_Group_free(&all);
  return holds;
}

/* Not where threads may use the same tag on different communicators at the same time, unless the
 * job survives: on the library's communicator their messages would be mixed up. */
static int can_serve(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm) {
  int inter = 1;
  return comm != MPI_COMM_NULL && newcomm &&
         (!rgi_runtime.threads_of_any || rgi_intercept_fault.creates) &&
         PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
         comm_holds_group(comm, group);
}

static int create_comm(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm) {
  int error = rgi_intercept_fault.creates ? rgi_intercept_fault.creates(comm) : RG_SUCCESS;
  if (!error)
    error = rg_comm_create_group(rgi_intercept_comm, group, tag, RG_METHOD_AUTO, newcomm);
  rgi_failure_scope_within = 0;
  RGI_TRY(error);
  RGI_TRY(rgi_intercept_inherit_handler(comm, *newcomm));
  if (!rgi_intercept_fault.made || *newcomm == MPI_COMM_NULL)
    return RG_SUCCESS;
  error = rgi_intercept_fault.made(*newcomm);
  if (error) /* MPI keeps it: others have it */
    *newcomm = MPI_COMM_NULL;
  return error;
}

/* MPICH 4.2 finds this before it looks at the communicator, and then asks the error handler of
 * MPI_COMM_SELF if one has been set, else that of MPI_COMM_WORLD. The library has set one. */
static int is_null_group(MPI_Comm comm, MPI_Group group) {
  return group == MPI_GROUP_NULL && comm != MPI_COMM_NULL;
}

RG_API int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm) {
  int answer;
  if (!rgi_intercept_chosen(RGI_INTERCEPT_COMM_CREATE_GROUP))
    rgi_intercept_count(RGI_INTERCEPT_COMM_CREATE_GROUP, RGI_INTERCEPT_NOT_CHOSEN);
  else if (!can_serve(comm, group, newcomm))
    rgi_intercept_count(RGI_INTERCEPT_COMM_CREATE_GROUP, RGI_INTERCEPT_OTHER_CASE);
  else if (rgi_intercept_end(RGI_INTERCEPT_COMM_CREATE_GROUP, comm,
                             create_comm(comm, group, tag, newcomm), &answer))
    return answer;
  if (rgi_intercept_chosen(RGI_INTERCEPT_COMM_CREATE_GROUP) && is_null_group(comm, group)) {
    PMPI_Comm_call_errhandler(comm, MPI_ERR_GROUP);
    return MPI_ERR_GROUP;
  }
  return PMPI_Comm_create_group(comm, group, tag, newcomm);
}
