/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "progress/mpi_error.h"

#include <mpi.h>
#include <string.h>

void rgi_mpi_error_text(int mpi_code, char text[]) {
  int length = 0;
  text[0] = 0;
  MPI_Error_string(mpi_code, text, &length);
  for (char *p = text; *p; p++)
    if (*p == '\n')
      *p = ' ';
}

int rgi_mpi_error(int mpi_code, const char *call) {
  char text[MPI_MAX_ERROR_STRING];
  if (mpi_code == MPI_SUCCESS)
    return RG_SUCCESS;
  rgi_mpi_error_text(mpi_code, text);
  /* MPICH has no error class of its own for this. */
  if (strstr(text, "Too many communicators"))
    return rgi_error(RG_ERR_LIMIT, "%s: too many communicators are alive; free some first (%.400s)",
                     call, text);
  return rgi_error(RG_ERR_MPI, "%s: %.500s", call, text);
}
