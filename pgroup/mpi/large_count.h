/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The application's counts and displacements, in the types that the library takes. */
#ifndef RGI_LARGE_COUNT_H
#define RGI_LARGE_COUNT_H

#include <mpi.h>
#include <regroup/group.h>
#include <stddef.h>

typedef struct {
  const MPI_Count *counts;
  const MPI_Aint *displs;
  void *storage; /* for rgi_spare_free, or NULL */
} rgi_large_counts;

/* Converts the arrays that are not NULL, one element for each member. RG_ERR_NOMEM. */
int rgi_large_counts_copy(rg_group g, const int counts[], const int displs[],
                          rgi_large_counts *converted);

/* As rgi_large_counts_copy for arrays that have the large types already. */
static inline int rgi_large_counts_use(rg_group g, const MPI_Count counts[],
                                       const MPI_Aint displs[], rgi_large_counts *converted) {
  (void)g;
  *converted = (rgi_large_counts){counts, displs, NULL};
  return 0;
}

#endif
