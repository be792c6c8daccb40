/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The error of one process as that of all: of several errors the one of the lowest rank. The
 * processes combine a word of each (MPI_MAX), alone or as one number of an exchange that they make
 * anyway. Only if the result is an error, the rank that it names broadcasts its text. Two carriers
 * do this: mpi_error.h over a communicator, group_error.h over a group. */
#ifndef RGI_ERROR_REPORT_H
#define RGI_ERROR_REPORT_H

#include <stdint.h>

#include "base/error.h"

/* The error of a rank as one number, 0 for RG_SUCCESS. Of two words the larger one is that of the
 * lower rank. */
static inline int64_t rgi_error_report_word(int error, int rank) {
  return error ? (int64_t)(INT32_MAX - rank) << 32 | (int64_t)(uint32_t)error : 0;
}

static inline int rgi_error_report_code(int64_t word) {
  return (int)(uint32_t)(word & UINT32_MAX);
}

static inline int rgi_error_report_rank(int64_t word) {
  return INT32_MAX - (int)(word >> 32);
}

typedef struct {
  int64_t word;
  int own;                       /* the caller's own error */
  char own_text[RGI_ERROR_TEXT]; /* and its text */
  char text[RGI_ERROR_TEXT];     /* to be broadcast by the rank of the word */
} rgi_error_report;

/* Before the broadcast. word: the largest of all, not 0; error: the caller's own. Returns whether
 * the text can be broadcast: after a death or a revocation it cannot. */
int rgi_error_report_begin(rgi_error_report *report, int64_t word, int error);

/* After it: the code of the word. A caller that has an error of this code keeps its text; the text
 * of all others says which rank reported what. lost: report->text has not arrived. */
int rgi_error_report_end(rgi_error_report *report, const char *call, int lost);

/* The error of a public function that another one has called: its text gets the name of the call
 * that the program has made. Returns error. */
int rgi_error_report_under(const char *call, int error);

#endif
