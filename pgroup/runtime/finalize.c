/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/finalize.h"

#include <mpi.h>
#include <regroup/error.h>

#include "base/error.h"
#include "noded/overlay_client.h"
#include "noded/pmi.h"
#include "progress/progress.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "shm/process.h"

static int without_mpi; /* somebody has died: MPI_Finalize would wait for ever */

int rgi_finalize_wait(void) {
  rgi_wait w;
  rgi_process_leave();
  rgi_overlay_tell(RGI_FACT_LEFT, 0);
  rgi_wait_start(&w, "rg_finalize", -1);
  for (;;) {
    uint32_t bell = atomic_load(&rgi_node_bell()->value);
    rgi_process_check_now();
    rgi_progress(); /* what MPI has not sent yet; its errors are nobody's any more */
    if (rgi_process_all_left() && rgi_overlay_all_left())
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_bell(&w, rgi_node_bell(), bell, !rgi_progress_busy()));
  }
}

void rgi_finalize_without_mpi(void) {
  rgi_process_end_job();
  rgi_overlay_tell(RGI_FACT_ENDED, 0);
  without_mpi = 1;
}

RG_API int MPI_Finalize(void) {
  if (!without_mpi)
    return PMPI_Finalize();
  rgi_pmi_finalize();
  return MPI_SUCCESS;
}
