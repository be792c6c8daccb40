/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "collectives/calls/group_error.h"

#include <regroup/collectives.h>
#include <string.h>

#include "formation/group.h"

int64_t rgi_group_error_word(rg_group g, int error) {
  return rgi_error_report_word(error, g->me);
}

int rgi_group_error_text(rg_group g, int rank, char text[RGI_ERROR_TEXT]) {
  memset(text, 0, RGI_ERROR_TEXT);
  if (g->me == rank)
    strcpy(text, rg_error_detail());
  return rg_bcast(g, text, RGI_ERROR_TEXT, MPI_CHAR, rank);
}

int rgi_group_error_tell(rg_group g, const char *call, int64_t word, int error) {
  rgi_error_report report;
  if (!word)
    return RG_SUCCESS;
  int lost = !rgi_error_report_begin(&report, word, error) ||
             rg_bcast(g, report.text, RGI_ERROR_TEXT, MPI_CHAR, rgi_error_report_rank(word));
  return rgi_error_report_end(&report, call, lost);
}

int rgi_group_error_share(rg_group g, const char *call, int error) {
  int64_t mine = rgi_group_error_word(g, error), word;
  RGI_TRY(rg_allreduce(g, &mine, &word, 1, MPI_INT64_T, MPI_MAX));
  return rgi_group_error_tell(g, call, word, error);
}
