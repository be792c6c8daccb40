/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A tool on MPI's profiling interface that intercepts MPI_Finalize and sends no message there.
 * tests/recovery/test_tool_finalize.py makes a shared library of it. */
#include <mpi.h>
#include <stdio.h>

int MPI_Finalize(void) {
  fprintf(stderr, "tool: MPI_Finalize\n");
  return PMPI_Finalize();
}
