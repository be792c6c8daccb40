/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Errors of MPI calls as errors of the library, and the error of one process as that of all. */
#include "progress/mpi_error.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MPICH writes a line for each function in which it met the error, past MPI_MAX_ERROR_STRING where
 * they are many: at most 128 lines of 512 bytes. */
#define LONGEST (128 * 512)

void rgi_mpi_error_lines(int mpi_code, char text[]) {
  int length = 0;
  char *whole = calloc(1, LONGEST);
  if (whole)
    MPI_Error_string(mpi_code, whole, &length);
  snprintf(text, MPI_MAX_ERROR_STRING, "%s", whole ? whole : "no memory for MPI's text");
  free(whole);
}

void rgi_mpi_error_text(int mpi_code, char text[]) {
  rgi_mpi_error_lines(mpi_code, text);
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

int64_t rgi_mpi_error_word(MPI_Comm comm, int error) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rgi_error_report_word(error, rank);
}

int rgi_mpi_error_tell(MPI_Comm comm, const char *call, int64_t word, int error) {
  rgi_error_report report;
  if (!word)
    return RG_SUCCESS;
  int lost = !rgi_error_report_begin(&report, word, error) ||
             MPI_Bcast(report.text, RGI_ERROR_TEXT, MPI_CHAR, rgi_error_report_rank(word), comm);
  return rgi_error_report_end(&report, call, lost);
}

int rgi_mpi_error_share(MPI_Comm comm, const char *call, int error) {
  int64_t mine = rgi_mpi_error_word(comm, error), word;
  RGI_TRY_MPI(MPI_Allreduce(&mine, &word, 1, MPI_INT64_T, MPI_MAX, comm));
  return rgi_mpi_error_tell(comm, call, word, error);
}
