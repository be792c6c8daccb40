/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/gather.h"

#include <stdlib.h>

#include "base/error.h"
#include "progress/mpi_error.h"

/* The processes agree on the memory first: a process without it would leave the others in
 * MPI_Allgather. */
int rgi_gather(MPI_Comm comm, int n, const char *what, const void *mine, size_t bytes, void *all) {
  void *memory = malloc((size_t)n * bytes);
  int missing = !memory, any;
  int error =
      rgi_mpi_error(MPI_Allreduce(&missing, &any, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  if (!error && any)
    error = rgi_error(RG_ERR_NOMEM, "rg_init: %s no memory for the %s of %d processes",
                      missing ? "there is" : "another process has", what, n);
  if (!error)
    error =
        rgi_mpi_error(MPI_Allgather(mine, (int)bytes, MPI_BYTE, memory, (int)bytes, MPI_BYTE, comm),
                      "MPI_Allgather");
  if (error)
    free(memory);
  else
    *(void **)all = memory;
  return error;
}
