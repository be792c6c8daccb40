/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Queries about hardware levels. */
#include <regroup/topology.h>
#include <stdio.h>

#include "base/error.h"
#include "formation/errhandler.h"
#include "progress/mpi_error.h"
#include "topology/exchange.h"
#include "topology/lowest.h"

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
  int error = rgi_exchange_places(__func__, comm, &places);
  rgi_errhandler_end(entry, MPI_COMM_NULL);
  if (error)
    return error;
  return rgi_lowest_type(__func__, places, nranks, ranks, type);
}
