/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "progress/comm_error.h"

#include "progress/mpi_error.h"

int64_t rgi_comm_error_word(MPI_Comm comm, int error) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rgi_error_report_word(error, rank);
}

int rgi_comm_error_tell(MPI_Comm comm, const char *call, int64_t word, int error) {
  rgi_error_report report;
  if (!word)
    return RG_SUCCESS;
  int lost = !rgi_error_report_begin(&report, word, error) ||
             MPI_Bcast(report.text, RGI_ERROR_TEXT, MPI_CHAR, rgi_error_report_rank(word), comm);
  return rgi_error_report_end(&report, call, lost);
}

int rgi_comm_error_share(MPI_Comm comm, const char *call, int error) {
  int64_t mine = rgi_comm_error_word(comm, error), word;
  RGI_TRY_MPI(MPI_Allreduce(&mine, &word, 1, MPI_INT64_T, MPI_MAX, comm));
  return rgi_comm_error_tell(comm, call, word, error);
}
