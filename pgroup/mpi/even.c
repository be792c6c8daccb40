/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The collectives whose blocks are all alike, with int counts and MPI_Count ones. */
#include <regroup/collectives.h>

#include "mpi/serving.h"

/* By our operation on group g where that is taken, else by MPI's. */
#define SERVE(id, ours, mpis)                                                                      \
  do {                                                                                             \
    int answer;                                                                                    \
    rg_group g = rgi_serve_group(RGI_SERVED_##id, comm);                                           \
    return g && rgi_serve_end(RGI_SERVED_##id, comm, ours, &answer) ? answer : mpis;               \
  } while (0)

RG_API int MPI_Barrier(MPI_Comm comm) {
  SERVE(BARRIER, rg_barrier(g), PMPI_Barrier(comm));
}

#define COUNT int
#define FORM(name) name
#include "mpi/even_forms.h"
#undef COUNT
#undef FORM

#if MPI_VERSION >= 4
#define COUNT MPI_Count
#define FORM(name) name##_c
#include "mpi/even_forms.h"
#endif
