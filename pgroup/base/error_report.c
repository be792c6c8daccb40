/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/error_report.h"

#include <stdio.h>
#include <string.h>

int rgi_error_report_begin(rgi_error_report *r, int64_t word, int error) {
  int code = rgi_error_report_code(word);
  memset(r, 0, sizeof *r);
  r->word = word;
  r->own = error;
  if (error)
    strcpy(r->own_text, rg_error_detail());
  memcpy(r->text, r->own_text, sizeof r->text);
  return code != RG_ERR_PROC_FAILED && code != RG_ERR_REVOKED;
}

int rgi_error_report_end(rgi_error_report *r, const char *call, int lost) {
  int code = rgi_error_report_code(r->word);
  if (r->own == code)
    return rgi_error(code, "%s", r->own_text);
  rgi_error_from(code, call, rgi_error_report_rank(r->word), lost ? NULL : r->text);
  return r->own ? rgi_error(code, "%.500s; here: %s", rg_error_detail(), r->own_text) : code;
}

int rgi_error_report_under(const char *call, int error) {
  const char *text = rg_error_detail();
  size_t inner = strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789");
  if (!error || strncmp(text, "rg_", 3) != 0)
    return error;
  return rgi_error(error, "%s%s", call, text + inner);
}
