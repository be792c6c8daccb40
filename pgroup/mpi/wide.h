/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Counts and displacements of the application's as the library takes them. */
#ifndef RGI_WIDE_H
#define RGI_WIDE_H

#include <mpi.h>
#include <regroup/group.h>
#include <stddef.h>

typedef struct {
  const MPI_Count *counts;
  const MPI_Aint *displs;
  void *room; /* to be freed, or NULL */
} rgi_wide;

/* Copies what is not NULL, one for each member. RG_ERR_NOMEM. */
int rgi_widen(rg_group g, const int counts[], const int displs[], rgi_wide *w);

/* The same where they are wide already. */
static inline int rgi_keep(rg_group g, const MPI_Count counts[], const MPI_Aint displs[],
                           rgi_wide *w) {
  (void)g;
  *w = (rgi_wide){counts, displs, NULL};
  return 0;
}

#endif
