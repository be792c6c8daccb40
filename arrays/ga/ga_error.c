/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Texts of errors, and the end of the job. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/last_words.h"
#include "ga/ga_handle.h"
#include "ga_core.h"
#include "ga_names.h"

enum { STATUS = 1 };

/* GA_NAME or NGA_NAME for "rgi_ga_name". */
static const char *public_name(const char *call) {
  for (size_t i = 0; i < sizeof rgi_ga_names / sizeof *rgi_ga_names; i++)
    if (!strcasecmp(strchr(rgi_ga_names[i], '_'), call + strlen("rgi_ga")))
      return rgi_ga_names[i];
  return call;
}

/* The detail of an error without the name of the library's own function in front. */
static const char *plain_detail(void) {
  const char *detail = rg_error_detail(), *end = strstr(detail, ": ");
  return end && strncmp(detail, "rg_", 3) == 0 ? end + 2 : detail;
}

__attribute__((noreturn)) static void end_job(const char *text, int status) {
  int rank = 0, has_mpi = 0;
  MPI_Initialized(&has_mpi);
  if (has_mpi)
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fflush(stdout);
  fprintf(stderr, "%d: %s\n", rank, text);
  fflush(stderr);
  if (has_mpi) {
    rgi_last_words_await(rgi_clock_sleep);
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  _exit(status);
}

void rgi_ga_error_end(const char *call, int g, const char *format, ...) {
  char what[512], text[1024];
  const rgi_ga_handle *handle = rgi_ga_handle_or_null(g);
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof what, format, list);
  va_end(list);
  if (handle)
    snprintf(text, sizeof text, "%s: array \"%s\" (%d): %s", public_name(call),
             handle->name ? handle->name : "", g, what);
  else
    snprintf(text, sizeof text, "%s: %s", public_name(call), what);
  end_job(text, STATUS);
}

int rgi_ga_handle_keeps, rgi_ga_handle_kept;

void rgi_ga_error_report(const char *call, int g, int code) {
  if (rgi_ga_handle_keeps &&
      (rgi_ga_handle_kept || code == RG_ERR_PROC_FAILED || code == RG_ERR_REVOKED)) {
    if (!rgi_ga_handle_kept)
      rgi_ga_handle_kept = code;
    return;
  }
  rgi_ga_error_end(call, g, "%s (%s)", plain_detail(), rg_error_name(code));
}

void rgi_ga_error(const char *str, int code) {
  char text[1024];
  snprintf(text, sizeof text, "%s: %d", str ? str : "", code);
  end_job(text, code ? code : STATUS);
}
