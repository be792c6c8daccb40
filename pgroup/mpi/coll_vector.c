/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's collectives with a count for each process, with int counts and with MPI_Count ones. */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "mpi/intercept.h"
#include "mpi/large_count.h"

/* Whether the caller is the root: on other processes the counts have no meaning. */
static int is_root(rg_group g, int root) {
  int rank = -1;
  rg_group_rank(g, &rank);
  return rank == root;
}

#define COUNT int
#define DISPL int
#define CONVERT rgi_large_counts_copy
#define FORM(name) name
#include "mpi/coll_vector_forms.h"
#undef COUNT
#undef DISPL
#undef CONVERT
#undef FORM

#if MPI_VERSION >= 4
#define COUNT MPI_Count
#define DISPL MPI_Aint
#define CONVERT rgi_large_counts_use
#define FORM(name) name##_c
#include "mpi/coll_vector_forms.h"
#endif
