/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Errors of MPI calls as errors of the library. */
#ifndef RGI_MPI_ERROR_H
#define RGI_MPI_ERROR_H

#include "base/error.h"

/* RG_SUCCESS for MPI_SUCCESS. Otherwise records the call and MPI's own text as the detail of
 * the error: RG_ERR_LIMIT for too many communicators, RG_ERR_MPI for anything else. */
int rgi_mpi_error(int mpi_code, const char *call);

/* MPI's own text for a code, cut to MPI_MAX_ERROR_STRING, for which there is room: as it is, or in
 * one line. */
void rgi_mpi_error_lines(int mpi_code, char text[]);
void rgi_mpi_error_text(int mpi_code, char text[]);

#define RGI_TRY_MPI(call)                                                                          \
  do {                                                                                             \
    int rgi_try_ = (call);                                                                         \
    if (rgi_try_ != MPI_SUCCESS)                                                                   \
      return rgi_mpi_error(rgi_try_, #call);                                                       \
  } while (0)

#endif
