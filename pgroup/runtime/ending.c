/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/ending.h"

#include <mpi.h>
#include <regroup/error.h>

#include "base/error.h"
#include "noded/launcher.h"
#include "noded/mesh.h"
#include "progress/progress.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "shm/process.h"

static int without_mpi; /* somebody has died: MPI_Finalize would wait for ever */

int rgi_ending_meet(void) {
  rgi_wait w;
  rgi_leave();
  rgi_mesh_tell(RGI_TELL_LEFT, 0);
  rgi_wait_start(&w, "rg_finalize", -1);
  for (;;) {
    uint32_t bell = atomic_load(&rgi_my_bell()->value);
    rgi_liveness_look_now();
    rgi_progress(); /* what MPI has not sent yet; its errors are nobody's any more */
    if (rgi_process_all_left() && rgi_mesh_all_left())
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_bell(&w, rgi_my_bell(), bell, !rgi_progress_busy()));
  }
}

void rgi_ending_begin(void) {
  rgi_will_end();
  rgi_mesh_tell(RGI_TELL_ENDED, 0);
  without_mpi = 1;
}

RG_API int MPI_Finalize(void) {
  if (!without_mpi)
    return PMPI_Finalize();
  rgi_launcher_leave();
  return MPI_SUCCESS;
}
