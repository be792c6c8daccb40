/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Completion and progress. */
#include <regroup/collectives.h>

#include "engine/engine.h"
#include "mirror/keep.h"
#include "mirror/mirror.h"
#include "object/array.h"
#include "runtime/error.h"
#include "runtime/request.h"

int rg_array_fence(rg_array a) {
  RGI_TRY(a ? rgi_array_check(__func__, a) : rgi_need_runtime(__func__));
  atomic_thread_fence(memory_order_seq_cst);
  if (!rgi_engine_open() || (a && a->one_node))
    return RG_SUCCESS;
  return rgi_engine_fence(-1);
}

int rg_array_sync(rg_array a) {
  RGI_TRY(rgi_array_check(__func__, a));
  if (!a->confirmed)
    RGI_TRY(rgi_array_confirm(__func__, a));
  if (!a->one_node)
    RGI_TRY(rg_array_fence(a));
  RGI_TRY(rg_barrier(a->group));
  return rgi_is_mirrored(a) ? rgi_mirror_keep(a) : RG_SUCCESS;
}

int rg_progress(void) {
  RGI_TRY(rgi_need_runtime(__func__));
  if (rgi_engine_open())
    rgi_engine_progress();
  return rgi_progress_all();
}
