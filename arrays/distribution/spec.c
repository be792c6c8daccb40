/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <string.h>

#include "base/error.h"
#include "distribution/distribution.h"

size_t rgi_type_size(rg_type type, size_t element_size) {
  static const size_t sizes[RG_TYPE_COUNT] = {
      [RG_INT32] = 4,  [RG_INT64] = 8,         [RG_FLOAT] = 4,
      [RG_DOUBLE] = 8, [RG_FLOAT_COMPLEX] = 8, [RG_DOUBLE_COMPLEX] = 16};
  if (type < 0 || type >= RG_TYPE_COUNT)
    return 0;
  return type == RG_OPAQUE ? element_size : sizes[type];
}

int rg_array_spec_set(rg_array_spec *spec, rg_type type, int dims, const int64_t shape[]) {
  RGI_REQUIRE(spec);
  RGI_REQUIRE(shape);
  if (type < 0 || type >= RG_TYPE_COUNT)
    return rgi_error(RG_ERR_ARG, "rg_array_spec_set: there is no type %d", (int)type);
  if (dims < 1 || dims > RG_MAX_DIMS)
    return rgi_error(RG_ERR_ARG, "rg_array_spec_set: %d dimensions; there may be 1 to %d", dims,
                     RG_MAX_DIMS);
  for (int d = 0; d < dims; d++)
    if (shape[d] < 0)
      return rgi_error(RG_ERR_ARG, "rg_array_spec_set: the extent of dimension %d is %lld", d,
                       (long long)shape[d]);
  memset(spec, 0, sizeof *spec);
  spec->dims = dims;
  spec->type = type;
  memcpy(spec->shape, shape, (size_t)dims * sizeof *shape);
  return RG_SUCCESS;
}
