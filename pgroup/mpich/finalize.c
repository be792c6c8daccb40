/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_Finalize, in front of MPI's, in a job that ends without MPI (runtime/finalize.c): it only
 * tells the launcher by PMI that this process has finalized; a process that ends without that
 * counts as failed. What MPI has allocated is left to the kernel. In the shared library so does
 * PMPI_Finalize (finalize_profiled.c).
 *
 * A program may have taken MPI's own MPI_Finalize, by dlsym for instance. That first deletes the
 * attributes of MPI_COMM_SELF, and one of them tells the launcher; its error makes MPI_Finalize
 * return before it waits for others. */
#include <mpi.h>
#include <regroup/error.h>
#include <stddef.h>

#include "mpich/mpich.h"

static int alone, told;

int rgi_mpich_finalize_told(void) {
  if (alone && !told) {
    rgi_mpich_pmi_finalize();
    told = 1;
  }
  return alone;
}

static int end_from_inside(MPI_Comm self, int key, void *value, void *extra) {
  (void)key, (void)value, (void)extra;
  rgi_mpich_finalize_told();
  PMPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return MPI_ERR_OTHER;
}

void rgi_mpich_finalize_alone(void) {
  int key;
  if (!alone &&
      PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_from_inside, &key, NULL) == MPI_SUCCESS)
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  alone = 1;
}

int rgi_mpich_has_finalized(void) {
  return told;
}

RG_API int MPI_Finalize(void) {
  return rgi_mpich_finalize_told() ? MPI_SUCCESS : PMPI_Finalize();
}
