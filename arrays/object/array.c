/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "object/array.h"

#include "base/error.h"
#include "engine/engine.h"

/* An array that is in order takes one comparison of each, and no call. */
int rgi_array_check(const char *call, rg_array a) {
  if (rgi_runtime.started && a && a->magic == RGI_ARRAY_MAGIC && a->epoch == rgi_runtime.epoch)
    return RG_SUCCESS;
  RGI_TRY(rgi_runtime_check(call));
  if (!a)
    return rgi_error(RG_ERR_ARRAY, "%s: the array is NULL", call);
  if (a->magic != RGI_ARRAY_MAGIC)
    return rgi_error(RG_ERR_ARRAY, "%s: not an array, or freed already", call);
  return rgi_error(RG_ERR_ARRAY, "%s: the array was made before the last rg_finalize", call);
}

int rgi_array_settle(rg_array a, int rank, int64_t first, int64_t n) {
  if (a->one_node)
    return RG_SUCCESS;
  return rgi_engine_settle(a->world[rank], a->heap_offsets[rank] + (uint64_t)first * a->element,
                           (uint64_t)n * a->element);
}

int rgi_array_confirm(const char *call, rg_array a) {
  if (!a->confirmed)
    RGI_TRY(rgi_shared_block_confirm(call, a->group, &a->shared));
  a->confirmed = 1;
  return RG_SUCCESS;
}
