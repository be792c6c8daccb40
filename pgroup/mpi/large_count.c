/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "mpi/large_count.h"
#include "base/error.h"
#include "base/spare.h"

int rgi_large_counts_copy(rg_group g, const int counts[], const int displs[],
                          rgi_large_counts *converted) {
  int n = 0;
  *converted = (rgi_large_counts){NULL, NULL, NULL};
  rg_group_size(g, &n);
  MPI_Count *c = rgi_spare_alloc((size_t)n * (sizeof(MPI_Count) + sizeof(MPI_Aint)));
  if (!c)
    return rgi_error(RG_ERR_NOMEM, "no memory for the counts of %d processes", n);
  MPI_Aint *d = (MPI_Aint *)(void *)(c + n);
  for (int i = 0; i < n && counts; i++)
    c[i] = counts[i];
  for (int i = 0; i < n && displs; i++)
    d[i] = displs[i];
  *converted = (rgi_large_counts){counts ? c : NULL, displs ? d : NULL, c};
  return RG_SUCCESS;
}
