/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's collectives with a count for each process, with int counts and with MPI_Count ones. */
#include <regroup/collectives.h>

#include "base/spare.h"
#include "formation/group.h"
#include "mpi/coll_check.h"
#include "mpi/intercept.h"
#include "mpi/large_count.h"

/* MPICH does not look. */
static int refuse_null(rgi_intercept_call call, MPI_Comm comm) {
  return rgi_intercept_refuse(call, comm, MPI_ERR_ARG, "the counts or displacements are NULL");
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
