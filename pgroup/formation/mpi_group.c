/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "formation/mpi_group.h"

#include "base/error.h"
#include "base/spare.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"

int rgi_mpi_group_translate(const char *call, MPI_Group from, int n, MPI_Group to, int **ranks) {
  int *all = rgi_spare_alloc(2 * (size_t)n * sizeof *all);
  if (!all)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d ranks", call, n);
  for (int i = 0; i < n; i++)
    all[n + i] = i;
  int error = rgi_mpi_error(MPI_Group_translate_ranks(from, n, all + n, to, all),
                            "MPI_Group_translate_ranks");
  if (error)
    rgi_spare_free(all);
  else
    *ranks = all;
  return error;
}

int rgi_mpi_group_is_among(MPI_Group some, MPI_Group all) {
  enum { MOST = 256 };
  int n = 0, at[MOST], ranks[MOST], among = 1;
  MPI_Group_size(some, &n);
  for (int i = 0; i < n && among; i += MOST) {
    int part = n - i < MOST ? n - i : MOST;
    for (int k = 0; k < part; k++)
      at[k] = i + k;
    if (MPI_Group_translate_ranks(some, part, at, all, ranks) != MPI_SUCCESS)
      return 1;
    for (int k = 0; k < part; k++)
      among &= ranks[k] != MPI_UNDEFINED;
  }
  return among;
}

int rgi_mpi_group_of(const rgi_members *members, MPI_Group *group) {
  int first, stride, n = rgi_members_count(members);
  if (rgi_members_is_range(members, &first, &stride)) {
    int range[1][3] = {{first, rgi_members_at(members, n - 1), stride}};
    RGI_TRY_MPI(MPI_Group_range_incl(rgi_runtime.mpi_group, 1, range, group));
    return RG_SUCCESS;
  }
  int *ranks = rgi_spare_alloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d members", n);
  for (int i = 0; i < n; i++)
    ranks[i] = rgi_members_at(members, i);
  int error =
      rgi_mpi_error(MPI_Group_incl(rgi_runtime.mpi_group, n, ranks, group), "MPI_Group_incl");
  rgi_spare_free(ranks);
  return error;
}
