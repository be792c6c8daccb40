/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_Finalize, in front of MPI's, in a job that ends without MPI (runtime/finalize.c): it only
 * tells the launcher by PMI that this process has finalized; a process that ends without that
 * counts as failed. What MPI has allocated is left to the kernel. In the shared library so does
 * PMPI_Finalize (finalize_profiled.c). */
#include <mpi.h>
#include <regroup/error.h>

#include "mpich/mpich.h"

static int alone, told;

void rgi_mpich_finalize_alone(void) {
  alone = 1;
}

int rgi_mpich_finalize_told(void) {
  if (alone) {
    rgi_mpich_pmi_finalize();
    told = 1;
  }
  return alone;
}

int rgi_mpich_has_finalized(void) {
  return told;
}

RG_API int MPI_Finalize(void) {
  return rgi_mpich_finalize_told() ? MPI_SUCCESS : PMPI_Finalize();
}
