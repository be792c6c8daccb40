/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Queries about hardware levels. */
#include <regroup/topology.h>
#include <stdio.h>

#include "base/error.h"
#include "formation/errhandler.h"
#include "machine/places.h"
#include "progress/mpi_error.h"
#include "topology/group_places.h"
#include "topology/topo_attr.h"

/* The lowest resource that contains some processes. */

/* The row of a rank of the communicator, or -1 if it is on another node. Rows are
 * in the order of ranks. */
static int row_of(const rgi_places *places, int rank) {
  int low = 0, high = places->rows - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (places->at[middle].rank < rank)
      low = middle + 1;
    else
      high = middle;
  }
  return places->at[low].rank == rank ? low : -1;
}

static const char *lowest_shared(const rgi_places *places, int n, const int ranks[]) {
  const rgi_machine_place *own = &places->at[places->me];
  int length = own->length, listed = 0, apart = 0;
  for (int i = 0; i < n; i++) {
    int row = row_of(places, ranks[i]);
    listed |= row == places->me;
    if (row < 0)
      apart = 1;
    else
      length = rgi_places_common_length(own, &places->at[row], length);
  }
  return !listed ? "Unknown"
         : apart ? "Cluster"
                 : rgi_machine_resource_type(&own->chain[length - 1]);
}

/* The type of the lowest resource that contains these ranks of the communicator or group of places.
 * "Cluster": they are on several nodes; "Unknown": the caller is not among them. RG_ERR_ARG (n),
 * RG_ERR_RANK. */
static int lowest_type(const char *call, const rgi_places *places, int n, const int ranks[],
                       const char **type) {
  if (n < 0)
    return rgi_error(RG_ERR_ARG, "%s: %d ranks", call, n);
  if (n > 0 && !ranks)
    return rgi_error(RG_ERR_ARG, "%s: ranks is NULL", call);
  for (int i = 0; i < n; i++)
    if (ranks[i] < 0 || ranks[i] >= places->size)
      return rgi_error(RG_ERR_RANK, "%s: rank %d at place %d of the list; ranks go from 0 to %d",
                       call, ranks[i], i, places->size - 1);
  *type = lowest_shared(places, n, ranks);
  return RG_SUCCESS;
}

static int level_of(const char *call, MPI_Comm comm, rgi_topo_attr **attr) {
  RGI_TRY(rgi_topo_attr_check_comm(call, comm));
  RGI_TRY(rgi_topo_attr_get(comm, attr));
  if (!*attr || !(*attr)->siblings)
    return rgi_error(RG_ERR_COMM,
                     "%s: the communicator is no hardware level; rg_comm_split_topology makes some",
                     call);
  return RG_SUCCESS;
}

int rg_comm_hlevel_info(MPI_Comm comm, int *num_comms, int *index, const char **type) {
  rgi_topo_attr *attr;
  RGI_TRY(level_of(__func__, comm, &attr));
  if (num_comms)
    *num_comms = attr->siblings;
  if (index)
    *index = attr->index;
  if (type)
    *type = attr->type;
  return RG_SUCCESS;
}

static int fill_info(const rgi_topo_attr *attr, MPI_Info info) {
  char number[16];
  RGI_TRY_MPI(MPI_Info_set(info, "rg_hlevel_type", attr->type));
  RGI_TRY_MPI(MPI_Info_set(info, "rg_hlevel_types", attr->types));
  snprintf(number, sizeof number, "%d", attr->siblings);
  RGI_TRY_MPI(MPI_Info_set(info, "rg_hlevel_num", number));
  snprintf(number, sizeof number, "%d", attr->index);
  RGI_TRY_MPI(MPI_Info_set(info, "rg_hlevel_index", number));
  return RG_SUCCESS;
}

int rg_comm_hlevel_mpi_info(MPI_Comm comm, MPI_Info *info) {
  rgi_topo_attr *attr;
  MPI_Info fresh;
  RGI_REQUIRE(info);
  RGI_TRY(level_of(__func__, comm, &attr));
  RGI_TRY_MPI(MPI_Info_create(&fresh));
  int error = fill_info(attr, fresh);
  if (error) {
    MPI_Info_free(&fresh);
    return error;
  }
  *info = fresh;
  return RG_SUCCESS;
}

int rg_comm_min_hlevel(MPI_Comm comm, int nranks, const int ranks[], const char **type) {
  const rgi_places *places;
  RGI_REQUIRE(type);
  RGI_TRY(rgi_topo_attr_check_comm(__func__, comm));
  int entry = rgi_errhandler_begin(comm);
  int error = rgi_topo_attr_exchange(__func__, comm, &places);
  rgi_errhandler_end(entry, MPI_COMM_NULL);
  if (error)
    return error;
  return lowest_type(__func__, places, nranks, ranks, type);
}

/* --- groups that are hardware levels ---------------------------------------------------------- */

int rg_group_hlevel_info(rg_group g, int *num_groups, int *index, const char **type) {
  RGI_TRY(rgi_group_check(__func__, g));
  const rgi_group_places *level = g->topology.of;
  if (!level || !level->siblings)
    return rgi_error(RG_ERR_GROUP,
                     "%s: the group is no hardware level; rg_group_split_topology makes some",
                     __func__);
  if (num_groups)
    *num_groups = level->siblings;
  if (index)
    *index = level->index;
  if (type)
    *type = level->type;
  return RG_SUCCESS;
}

int rg_group_min_hlevel(rg_group g, int nranks, const int ranks[], const char **type) {
  const rgi_group_places *known;
  RGI_REQUIRE(type);
  RGI_TRY(rgi_group_check_member(__func__, g));
  RGI_TRY(rgi_group_places_get(__func__, g, &known));
  return lowest_type(__func__, known->places, nranks, ranks, type);
}
