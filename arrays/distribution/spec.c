/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Making a spec, and what it may say. Each check reports the first value that is wrong. */
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "distribution/distribution.h"
#include "distribution/type.h"

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

#define WRONG(...) rgi_error(RG_ERR_ARG, "rg_array_create: " __VA_ARGS__)

static int check_element(const rg_array_spec *spec) {
  size_t size = rgi_type_size(spec->type, spec->element_size);
  if ((int)spec->type < 0 || spec->type >= RG_TYPE_COUNT)
    return WRONG("there is no type %d", (int)spec->type);
  if (size == 0)
    return WRONG("an RG_TYPE_OPAQUE array needs an element_size");
  if (spec->element_size != 0 && spec->element_size != size)
    return WRONG("element_size is %zu, but elements of type %d have %zu bytes", spec->element_size,
                 (int)spec->type, size);
  if (size > INT64_MAX)
    return rgi_error(RG_ERR_LIMIT, "rg_array_create: element_size %zu is too large", size);
  return RG_SUCCESS;
}

static int check_boundaries(const rg_array_spec *spec, int k) {
  const int64_t *b = spec->boundaries[k];
  if (spec->grid[k] < 1)
    return WRONG("RG_LAYOUT_IRREGULAR needs grid[%d], the number of boundaries", k);
  if (!b)
    return WRONG("RG_LAYOUT_IRREGULAR needs boundaries[%d], which is NULL", k);
  if (b[0] != 0)
    return WRONG("boundaries[%d][0] is %lld; it must be 0", k, (long long)b[0]);
  for (int i = 1; i < spec->grid[k]; i++)
    if (b[i] < b[i - 1] || b[i] > spec->shape[k])
      return WRONG("boundaries[%d][%d] is %lld; it must be from %lld (the one before) to %lld "
                   "(the extent)",
                   k, i, (long long)b[i], (long long)b[i - 1], (long long)spec->shape[k]);
  return RG_SUCCESS;
}

static int check_chunk(const rg_array_spec *spec, int k) {
  int64_t chunk = spec->chunk[k];
  if (rgi_distribution_layout_is_cyclic(spec->layout) && chunk < 1)
    return WRONG("a cyclic layout needs chunk[%d], the extent of the blocks; it is %lld", k,
                 (long long)chunk);
  if (spec->layout == RG_LAYOUT_BLOCK && chunk < -1)
    return WRONG("chunk[%d] is %lld; it may be -1, 0 or a least extent", k, (long long)chunk);
  if (spec->layout == RG_LAYOUT_BLOCK && chunk == -1 && spec->grid[k] > 1)
    return WRONG("dimension %d is not to be divided (chunk -1), but grid[%d] is %d", k, k,
                 spec->grid[k]);
  return RG_SUCCESS;
}

static int check_dimension(const rg_array_spec *spec, int k) {
  if (spec->shape[k] < 0)
    return WRONG("the extent of dimension %d is %lld", k, (long long)spec->shape[k]);
  if (spec->grid[k] < 0)
    return WRONG("grid[%d] is %d", k, spec->grid[k]);
  if (spec->ghosts[k] < 0)
    return WRONG("ghosts[%d] is %lld", k, (long long)spec->ghosts[k]);
  if (spec->ghosts[k] > INT64_MAX / 4)
    return rgi_error(RG_ERR_LIMIT, "rg_array_create: ghosts[%d] is %lld", k,
                     (long long)spec->ghosts[k]);
  if (spec->ghosts[k] && rgi_distribution_layout_is_cyclic(spec->layout))
    return WRONG("ghosts[%d] is %lld, but a cyclic layout has no ghost cells", k,
                 (long long)spec->ghosts[k]);
  RGI_TRY(check_chunk(spec, k));
  return spec->layout == RG_LAYOUT_IRREGULAR ? check_boundaries(spec, k) : RG_SUCCESS;
}

int rgi_distribution_check_spec(const rg_array_spec *spec, int members) {
  int64_t product = 1;
  if (spec->dims < 1 || spec->dims > RG_ARRAY_MAX_DIMS)
    return WRONG("%d dimensions; there may be 1 to %d", spec->dims, RG_ARRAY_MAX_DIMS);
  if ((int)spec->layout < RG_LAYOUT_BLOCK || spec->layout > RG_LAYOUT_SCALAPACK)
    return WRONG("there is no layout %d", (int)spec->layout);
  if (spec->flags & ~(unsigned)RG_ARRAY_MIRRORED)
    return WRONG("flags is 0x%x; there is RG_ARRAY_MIRRORED only", spec->flags);
  if (spec->owners < 0 || spec->owners > members)
    return WRONG("owners is %d; the group has %d members", spec->owners, members);
  const int most = spec->owners ? spec->owners : members;
  RGI_TRY(check_element(spec));
  for (int k = 0; k < spec->dims; k++) {
    RGI_TRY(check_dimension(spec, k));
    product *= spec->grid[k] ? spec->grid[k] : 1;
    if (product > most)
      return WRONG("the grid has more blocks than the group has %s, which are %d",
                   spec->owners ? "owners" : "members", most);
  }
  return RG_SUCCESS;
}
