/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The public calls that make communicators of hardware levels: each checks its arguments and
 * describes a descent. */
#include <regroup/topology.h>

#include "base/error.h"
#include "progress/mpi_error.h"
#include "topology/descent.h"
#include "topology/filter.h"
#include "topology/topo_attr.h"

int rg_comm_split_topology(MPI_Comm comm, int filter, int key, MPI_Comm *newcomm) {
  MPI_Comm level, roots;
  int levels;
  RGI_REQUIRE(newcomm);
  RGI_TRY(rgi_topo_attr_check_comm(__func__, comm));
  rgi_level_call c = rgi_level_call_of(__func__, filter, key, 1, 0);
  RGI_TRY(rgi_descent_run(&c, comm, &level, &roots, &levels));
  *newcomm = levels ? level : MPI_COMM_NULL;
  return RG_SUCCESS;
}

static int filter_from_info(const char *call, MPI_Info info, int *filter) {
  char value[128];
  int found = 0;
  *filter = RG_LEVEL_ALL;
  if (info != MPI_INFO_NULL)
    RGI_TRY_MPI(MPI_Info_get(info, "rg_level_filter", (int)sizeof value - 1, value, &found));
  return found ? rgi_filter_parse(call, value, filter) : RG_SUCCESS;
}

int rg_comm_hsplit_with_roots(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
                              MPI_Comm *rootscomm) {
  MPI_Comm level, roots;
  int levels;
  RGI_REQUIRE(newcomm);
  RGI_REQUIRE(rootscomm);
  RGI_TRY(rgi_topo_attr_check_comm(__func__, comm));
  rgi_level_call c = {.call = __func__, .most = 1, .rooted = 1};
  c.error = filter_from_info(c.call, info, &c.filter);
  RGI_TRY(rgi_descent_run(&c, comm, &level, &roots, &levels));
  *newcomm = levels ? level : MPI_COMM_NULL;
  *rootscomm = levels ? roots : MPI_COMM_NULL;
  return RG_SUCCESS;
}

int rg_comm_hierarchy(MPI_Comm comm, int filter, int max, MPI_Comm comms[], MPI_Comm roots[],
                      int *levels) {
  MPI_Comm made[RG_LEVELS_MOST], made_roots[RG_LEVELS_MOST];
  int n;
  RGI_REQUIRE(comms);
  RGI_REQUIRE(levels);
  RGI_TRY(rgi_topo_attr_check_comm(__func__, comm));
  rgi_level_call c = rgi_level_call_of(__func__, filter, 0, max, roots != NULL);
  RGI_TRY(rgi_descent_run(&c, comm, made, made_roots, &n));
  for (int k = 0; k < n; k++) {
    comms[k] = made[k];
    if (roots)
      roots[k] = made_roots[k];
  }
  *levels = n;
  return RG_SUCCESS;
}
