/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Completion of one-sided accesses (fence, sync), and progress for other processes. */
#include <regroup/collectives.h>

#include "base/error.h"
#include "base/error_report.h"
#include "engine/engine.h"
#include "engine/heap.h"
#include "object/array.h"
#include "object/mirror.h"
#include "object/replica.h"
#include "progress/request.h"
#include "shm/process.h"

/* An error if something written to a member's node was lost with it. */
static int check_lost(rg_array a) {
  int lost = -1;
  for (int i = 0; rgi_process_deaths() > 0 && i < a->members; i++)
    if (rgi_engine_lost(a->world[i]))
      lost = a->world[i];
  return lost < 0 ? RG_SUCCESS
                  : rgi_error(RG_ERR_PROC_FAILED,
                              "rg_array_fence: what was written to the node of rank %d of the "
                              "world is lost: all its processes have died",
                              lost);
}

int rg_array_fence(rg_array a) {
  RGI_TRY(a ? rgi_array_check(__func__, a) : rgi_runtime_check(__func__));
  atomic_thread_fence(memory_order_seq_cst);
  if (!rgi_heap_is_open() || (a && a->one_node))
    return RG_SUCCESS;
  RGI_TRY(rgi_engine_fence(-1));
  return a ? check_lost(a) : RG_SUCCESS;
}

int rg_array_sync(rg_array a) {
  RGI_TRY(rgi_array_check(__func__, a));
  if (!a->confirmed)
    RGI_TRY(rgi_array_confirm(__func__, a));
  if (!a->one_node)
    RGI_TRY(rgi_error_report_under(__func__, rg_array_fence(a)));
  RGI_TRY(rgi_error_report_under(__func__, rg_barrier(a->group)));
  return rgi_array_is_mirrored(a) ? rgi_error_report_under(__func__, rgi_replicas_update(a))
                                  : RG_SUCCESS;
}

int rg_progress(void) {
  RGI_TRY(rgi_runtime_check(__func__));
  if (rgi_heap_is_open())
    rgi_engine_progress();
  return rgi_requests_progress_all();
}
