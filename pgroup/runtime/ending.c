/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/ending.h"

#include <mpi.h>
#include <regroup/error.h>

#include "runtime/error.h"
#include "runtime/launcher.h"
#include "runtime/liveness.h"
#include "runtime/mesh.h"
#include "runtime/message.h"
#include "runtime/node.h"
#include "runtime/wait.h"

static int without_mpi; /* somebody has died: MPI_Finalize would wait for ever */

static int all_here(void) {
  for (int i = 0; i < rgi_node.n; i++)
    if (!rgi_has_left(i) && !rgi_is_dead(rgi_node.ranks[i]))
      return 0;
  return rgi_mesh_all_left();
}

int rgi_ending_meet(void) {
  rgi_wait w;
  rgi_leave();
  rgi_wait_start(&w, "rg_finalize", -1);
  for (;;) {
    uint32_t bell = atomic_load(&rgi_my_bell()->value);
    rgi_liveness_look_now();
    rgi_progress(); /* what MPI has not sent yet; its errors are nobody's any more */
    if (all_here())
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_bell(&w, rgi_my_bell(), bell, !rgi_message_busy()));
  }
}

void rgi_ending_begin(void) {
  without_mpi = 1;
}

RG_API int MPI_Finalize(void) {
  if (!without_mpi)
    return PMPI_Finalize();
  rgi_launcher_leave();
  return MPI_SUCCESS;
}
