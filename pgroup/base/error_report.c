/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/error_report.h"

#include <stdio.h>
#include <string.h>

int rgi_error_report_begin(rgi_error_report *report, int64_t word, int error) {
  int code = rgi_error_report_code(word);
  memset(report, 0, sizeof *report);
  report->word = word;
  report->own = error;
  if (error)
    strcpy(report->own_text, rg_error_detail());
  memcpy(report->text, report->own_text, sizeof report->text);
  return code != RG_ERR_PROC_FAILED && code != RG_ERR_REVOKED;
}

int rgi_error_report_end(rgi_error_report *report, const char *call, int lost) {
  int code = rgi_error_report_code(report->word);
  if (report->own == code)
    return rgi_error(code, "%s", report->own_text);
  rgi_error_from(code, call, rgi_error_report_rank(report->word), lost ? NULL : report->text);
  return report->own ? rgi_error(code, "%.500s; here: %s", rg_error_detail(), report->own_text)
                     : code;
}

int rgi_error_report_under(const char *call, int error) {
  const char *text = rg_error_detail();
  if (!error || strncmp(text, "rg_", 3) != 0)
    return error;
  size_t inner = strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789");
  return rgi_error(error, "%s%s", call, text + inner);
}
