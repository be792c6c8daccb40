/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The error of one rank as that of all. */
#ifndef RGT_REPORTED_H
#define RGT_REPORTED_H

#include <regroup/error.h>
#include <stdio.h>
#include <string.h>

#include "tests/check/check.h"

/* Every caller: a call has returned the error that the rank `me` == `from` of a group has found,
 * with these words. All others say which rank it was. */
static inline void expect_reported(int error, int code, int me, int from, const char *words) {
  char who[64];
  snprintf(who, sizeof who, "rank %d reported: ", from);
  int named = strstr(rg_error_detail(), who) != NULL,
      said = strstr(rg_error_detail(), words) != NULL;
  RGT_INT(error, code);
  if (!RGT_INT(named, me != from) || !RGT_TRUE(said))
    printf("%s\n", rg_error_detail());
}

#endif
