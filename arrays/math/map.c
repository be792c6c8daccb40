/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <regroup/array_math.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "math/own.h"

int rg_array_map(rg_array a, const int64_t lo[], const int64_t hi[], rg_array_function *f,
                 void *context) {
  rgi_operand operand;
  rgi_own_lines lines;
  int returned = RG_SUCCESS;
  unsigned mark = 0;
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  RGI_REQUIRE(f);
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  for (rgi_own_lines_start(&lines, &operand); lines.n && !returned; rgi_own_lines_next(&lines)) {
    mark = rgi_error_mark();
    returned = f(lines.ptr, lines.n, lines.at, context);
  }
  return rgi_group_error_share(a->group, __func__,
                               rgi_error_of_callback("the function", returned, mark));
}
