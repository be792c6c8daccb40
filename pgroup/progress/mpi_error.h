/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Errors of MPI calls as errors of the library. */
#ifndef RGI_MPI_ERROR_H
#define RGI_MPI_ERROR_H

#include <mpi.h>

#include "base/error.h"
#include "base/error_report.h"

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

/* Collective over comm. error: the caller's own, or RG_SUCCESS. Returns the error of the lowest
 * rank that has one, on every process, with a text that names the rank. Cost: an allreduce of 8
 * bytes; after an error a broadcast of the text. */
int rgi_mpi_error_share(MPI_Comm comm, const char *call, int error);

/* As rgi_mpi_error_share where all processes know the word already. word 0: RG_SUCCESS, at no cost.
 */
int rgi_mpi_error_tell(MPI_Comm comm, const char *call, int64_t word, int error);

/* The caller's word. */
int64_t rgi_mpi_error_word(MPI_Comm comm, int error);

#endif
