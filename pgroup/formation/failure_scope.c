/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The failure scope of members, and of MPI's groups: their processes that belong to the library's
 * world. Without a guard (a job that does not survive deaths) a call has no scope: no death is ever
 * reported to it. */
#include "formation/failure_scope.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "formation/mpi_group.h"
#include "noded/client/guard_client.h"
#include "progress/mpi_error.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/failure.h"

_Thread_local uint64_t rgi_failure_scope_within;

int rgi_failure_scope_find(const void *members, int world_rank) {
  return rgi_members_find(members, world_rank);
}

rgi_failure_scope rgi_failure_scope_of(const rgi_members *members) {
  static const uint64_t no_creation[RGI_CREATION_IDS];
  rgi_failure_scope scope;
  rgi_failure_scope_set(&scope, members, 0, no_creation);
  return scope;
}

/* The world ranks of a group's processes; a process without one is left out. */
static int list_members(const char *call, MPI_Group group, int n, rgi_members **members) {
  int known = 0, *all;
  RGI_TRY(rgi_mpi_group_translate(call, group, n, rgi_runtime.mpi_group, &all));
  for (int i = 0; i < n; i++)
    if (all[i] != MPI_UNDEFINED)
      all[known++] = all[i];
  int error = known ? rgi_members_list(call, known, all, members) : RG_SUCCESS;
  rgi_spare_free(all);
  return error;
}

int rgi_failure_scope_begin(const char *call, MPI_Group a, MPI_Group b, rgi_members **members) {
  MPI_Group all = MPI_GROUP_EMPTY;
  int n = 0, error = RG_SUCCESS;
  *members = NULL;
  rgi_failure_scope_now = (rgi_failure_scope){0};
  if (!rgi_runtime.started || !rgi_guard_exists() || a == MPI_GROUP_NULL)
    return RG_SUCCESS;
  MPI_Group_union(a, b == MPI_GROUP_NULL ? MPI_GROUP_EMPTY : b, &all);
  MPI_Group_size(all, &n);
  if (n > 0) {
    error = list_members(call, all, n, members);
    MPI_Group_free(&all);
  }
  if (*members)
    rgi_failure_scope_now = rgi_failure_scope_of(*members);
  rgi_failure_scope_now.parent = rgi_failure_scope_within;
  return error;
}

void rgi_failure_scope_end(rgi_members *members) {
  rgi_failure_scope_now = (rgi_failure_scope){0};
  rgi_members_drop(members);
}

static int meet(const char *call, MPI_Comm comm) {
  MPI_Request request;
  RGI_TRY_MPI(MPI_Ibarrier(comm, &request));
  return rgi_wait_request(&request, call, -1);
}

int rgi_failure_scope_meet(const char *call, MPI_Comm comm) {
  MPI_Group group;
  rgi_members *members;
  RGI_TRY_MPI(MPI_Comm_group(comm, &group));
  int error = rgi_failure_scope_begin(call, group, MPI_GROUP_NULL, &members);
  MPI_Group_free(&group);
  RGI_TRY(error);
  error = meet(call, comm);
  rgi_failure_scope_end(members);
  return error;
}
