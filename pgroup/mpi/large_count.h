/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Counts and displacements of the application's as the library takes them. */
#ifndef RGI_LARGE_COUNT_H
#define RGI_LARGE_COUNT_H

#include <mpi.h>
#include <regroup/group.h>
#include <stddef.h>

typedef struct {
  const MPI_Count *counts;
  const MPI_Aint *displs;
  void *storage; /* to be freed, or NULL */
} rgi_large_counts;

/* Copies what is not NULL, one for each member. RG_ERR_NOMEM. */
int rgi_large_counts_copy(rg_group g, const int counts[], const int displs[], rgi_large_counts *w);

/* The same where they are wide already. */
static inline int rgi_large_counts_use(rg_group g, const MPI_Count counts[],
                                       const MPI_Aint displs[], rgi_large_counts *w) {
  (void)g;
  *w = (rgi_large_counts){counts, displs, NULL};
  return 0;
}

#endif
