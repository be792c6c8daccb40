/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The collectives with a count for each process, with int counts and MPI_Count ones. */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "mpi/serving.h"
#include "mpi/wide.h"

/* Whether the caller is the root: the others' counts have no meaning. */
static int is_root(rg_group g, int root) {
  int rank = -1;
  rg_group_rank(g, &rank);
  return rank == root;
}

#define COUNT int
#define DISPL int
#define WIDEN rgi_widen
#define FORM(name) name
#include "mpi/uneven_forms.h"
#undef COUNT
#undef DISPL
#undef WIDEN
#undef FORM

#if MPI_VERSION >= 4
#define COUNT MPI_Count
#define DISPL MPI_Aint
#define WIDEN rgi_keep
#define FORM(name) name##_c
#include "mpi/uneven_forms.h"
#endif
