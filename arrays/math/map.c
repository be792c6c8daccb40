/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <regroup/array_math.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "math/own.h"

int rg_array_map(rg_array a, const int64_t lo[], const int64_t hi[], rg_array_function *f,
                 void *context) {
  rgi_operand o;
  rgi_own_lines l;
  int returned = RG_SUCCESS;
  unsigned mark = 0;
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &o));
  RGI_REQUIRE(f);
  RGI_TRY(rgi_operands_begin(__func__, 1, &o));
  for (rgi_own_lines_start(&l, &o); l.n && !returned; rgi_own_lines_next(&l)) {
    mark = rgi_error_mark();
    returned = f(l.ptr, l.n, l.at, context);
  }
  return rgi_group_error_share(a->group, __func__,
                               rgi_error_of_callback("the function", returned, mark));
}
