/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "distribution/spec.h"

int rg_array_spec_set(rg_array_spec *spec, rg_array_type type, int dims, const int64_t shape[]) {
  rg_array_spec own = {.size = sizeof own, .dims = dims, .type = type};
  RGI_TRY(rgi_sized_check(spec, "rg_array_spec_set: spec"));
  RGI_REQUIRE(shape);
  if (type < 0 || type >= RG_TYPE_COUNT)
    return rgi_error(RG_ERR_ARG, "rg_array_spec_set: there is no type %d", (int)type);
  if (dims < 1 || dims > RG_ARRAY_MAX_DIMS)
    return rgi_error(RG_ERR_ARG, "rg_array_spec_set: %d dimensions; there may be 1 to %d", dims,
                     RG_ARRAY_MAX_DIMS);
  for (int d = 0; d < dims; d++)
    if (shape[d] < 0)
      return rgi_error(RG_ERR_ARG, "rg_array_spec_set: the extent of dimension %d is %lld", d,
                       (long long)shape[d]);
  memcpy(own.shape, shape, (size_t)dims * sizeof *shape);
  return rgi_sized_give(spec, &own, sizeof own, "rg_array_spec_set: spec");
}
