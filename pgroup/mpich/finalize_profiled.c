/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * PMPI_Finalize, in front of MPI's like MPI_Finalize (finalize.c). A tool on MPI's profiling
 * interface that intercepts MPI_Finalize calls it, and so does Fortran's MPI_Finalize of mpi_f08.
 * In the shared library only: a program that is linked with MPI's archive would not get MPI's
 * PMPI_Finalize. */
#include <dlfcn.h>
#include <mpi.h>
#include <regroup/error.h>

#include "mpich/mpich.h"

typedef int finalize_fn(void);

RG_API int PMPI_Finalize(void) {
  if (rgi_mpich_finalize_told())
    return MPI_SUCCESS;
  finalize_fn *next = (finalize_fn *)dlsym(RTLD_NEXT, "PMPI_Finalize");
  return next ? next() : MPI_ERR_INTERN;
}
