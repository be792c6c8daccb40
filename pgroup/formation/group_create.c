/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Groups created from lists, ranges, communicators and MPI groups. */
#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "formation/group.h"
#include "formation/mpi_group.h"
#include "runtime/runtime.h"

int rg_group_world(rg_group *world) {
  rgi_members *all;
  RGI_REQUIRE(world);
  RGI_TRY(rgi_runtime_check(__func__));
  RGI_TRY(rgi_members_range(rgi_runtime.size, 0, 1, &all));
  RGI_TRY(rgi_group_new(all, RGI_CONTEXT_WORLD, 0, world));
  (*world)->is_world = 1;
  return RG_SUCCESS;
}

static int check_creation(const char *call, rg_group parent, int tag) {
  RGI_TRY(rgi_runtime_check(call));
  RGI_TRY(rgi_group_check(call, parent));
  return rgi_group_check_tag(call, tag);
}

int rg_group_create(rg_group parent, int n, const int ranks[], int tag, rg_group *g) {
  rgi_members *members;
  RGI_REQUIRE(g);
  RGI_TRY(check_creation(__func__, parent, tag));
  if (n < 0)
    return rgi_error(RG_ERR_ARG, "%s: a list of %d ranks", __func__, n);
  if (n == 0) {
    *g = NULL;
    return RG_SUCCESS;
  }
  RGI_REQUIRE(ranks);
  RGI_TRY(rgi_members_pick(__func__, parent->members, n, ranks, &members));
  return rgi_group_for_members(parent, members, tag, g);
}

/* A range of a list is a list. */
static int pick_range(const rgi_members *parent, int n, int first, int stride,
                      rgi_members **members) {
  const char *call = "rg_group_create_range";
  int unused, step;
  if (rgi_members_is_range(parent, &unused, &step))
    return rgi_members_range(n, rgi_members_at(parent, first), step * stride, members);
  int *at = malloc((size_t)n * sizeof *at);
  if (!at)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", call, n);
  for (int i = 0; i < n; i++)
    at[i] = first + i * stride;
  int error = rgi_members_pick(call, parent, n, at, members);
  free(at);
  return error;
}

int rg_group_create_range(rg_group parent, int first, int last, int stride, int tag, rg_group *g) {
  rgi_members *members;
  RGI_REQUIRE(g);
  RGI_TRY(check_creation(__func__, parent, tag));
  int size = rgi_members_count(parent->members);
  if (first < 0 || first >= size || last < 0 || last >= size)
    return rgi_error(RG_ERR_RANK, "%s: from %d to %d; the group's ranks go from 0 to %d", __func__,
                     first, last, size - 1);
  if (stride == 0 || (first < last && stride < 0) || (first > last && stride > 0))
    return rgi_error(RG_ERR_ARG, "%s: stride %d does not lead from %d to %d", __func__, stride,
                     first, last);
  int n = (int)(((long long)last - first) / stride) + 1;
  RGI_TRY(pick_range(parent->members, n, first, n > 1 ? stride : 1, &members));
  return rgi_group_for_members(parent, members, tag, g);
}

/* NULL: an empty group. */
static int members_of_mpi_group(const char *call, MPI_Group mpi, rgi_members **members) {
  int n, *ranks, error = RG_SUCCESS;
  *members = NULL;
  MPI_Group_size(mpi, &n);
  if (n == 0)
    return RG_SUCCESS;
  RGI_TRY(rgi_mpi_group_translate(call, mpi, n, rgi_runtime.mpi_group, &ranks));
  for (int i = 0; i < n && !error; i++)
    if (ranks[i] == MPI_UNDEFINED)
      error = rgi_error(RG_ERR_GROUP, "%s: rank %d is not among the processes of rg_init", call, i);
  if (!error)
    error = rgi_members_list(call, n, ranks, members);
  rgi_spare_free(ranks);
  return error;
}

static int from_mpi_group(const char *call, MPI_Group mpi, int tag, rg_group *g) {
  rgi_members *members;
  RGI_TRY(members_of_mpi_group(call, mpi, &members));
  if (members)
    return rgi_group_for_members(NULL, members, tag, g);
  *g = NULL;
  return RG_SUCCESS;
}

int rgi_group_numbered(MPI_Group mpi, uint64_t number, rg_group *g) {
  rgi_members *members;
  RGI_TRY(members_of_mpi_group("rg_group_from_mpi_group", mpi, &members));
  return rgi_group_with_context(members, 0,
                                rgi_context_numbered(rgi_members_set_hash(members), number), g);
}

int rg_group_from_mpi_group(MPI_Group mpi, int tag, rg_group *g) {
  RGI_REQUIRE(g);
  RGI_TRY(rgi_runtime_check(__func__));
  RGI_TRY(rgi_group_check_tag(__func__, tag));
  if (mpi == MPI_GROUP_NULL)
    return rgi_error(RG_ERR_GROUP, "%s: the group is MPI_GROUP_NULL", __func__);
  return from_mpi_group(__func__, mpi, tag, g);
}

int rg_group_from_comm(MPI_Comm comm, rg_group *g) {
  MPI_Group mpi;
  int inter = 0;
  RGI_REQUIRE(g);
  RGI_TRY(rgi_runtime_check(__func__));
  if (comm == MPI_COMM_NULL)
    return rgi_error(RG_ERR_COMM, "%s: the communicator is MPI_COMM_NULL", __func__);
  MPI_Comm_test_inter(comm, &inter);
  if (inter)
    return rgi_error(RG_ERR_COMM, "%s: an inter-communicator; merge it first", __func__);
  MPI_Comm_group(comm, &mpi);
  int error = from_mpi_group(__func__, mpi, 0, g);
  MPI_Group_free(&mpi);
  return error;
}
