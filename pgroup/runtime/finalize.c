/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Finalizing after a death. MPICH's MPI_Finalize is collective: with a dead member it never
 * returns. A death may also come while MPI_Finalize runs. So in a job in which deaths are to be
 * survived, whether there was one or not, rg_finalize does without MPI:
 * - Each process marks itself as having left, in the table of processes for its own node and by
 *   the daemon (RGI_FACT_LEFT) for the others, and waits until every process has left or died,
 *   and every other node has. During the wait it still moves messages, as another process may
 *   need them. From its mark on, the end of a process is not a death.
 * - The modules are closed without MPI: what MPI holds stays until the process ends.
 * - The job's outcome is set to "done", for the guards of this node and (RGI_FACT_ENDED) of the
 *   others: a guard whose rank was killed then ends with success, and mpiexec does as well.
 * - MPI_Finalize only tells the launcher (mpich/finalize.c).
 *
 * Without guards, or on several nodes without daemons, rg_finalize uses a barrier of MPI's and
 * MPI_Finalize is MPI's own, unless a death has been noticed. */
#include "runtime/finalize.h"

#include <mpi.h>
#include <regroup/error.h>

#include "base/error.h"
#include "mpich/mpich.h"
#include "noded/client/guard_client.h"
#include "noded/client/overlay_client.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "shm/process.h"

int rgi_finalize_wait(void) {
  rgi_wait wait;
  rgi_process_leave();
  rgi_overlay_tell(RGI_FACT_LEFT, 0);
  rgi_wait_start(&wait, "rg_finalize", -1);
  wait.unlimited = 1;
  wait.alone = 1;
  for (;;) {
    uint32_t bell = atomic_load(&rgi_node_bell()->value);
    rgi_process_check_now();
    rgi_requests_progress_all(); /* MPI may not have sent all yet; an error of its has no receiver
                                    any more */
    if (rgi_process_all_left() && rgi_overlay_all_left())
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_bell(&wait, rgi_node_bell(), bell, !rgi_progress_busy()));
  }
}

void rgi_finalize_without_mpi(void) {
  rgi_process_end_job();
  rgi_overlay_tell(RGI_FACT_ENDED, 0);
  rgi_mpich_finalize_alone();
}

/* A process that ends by exit while the others go on in MPI ends the job: its guard is to know. */
__attribute__((destructor)) static void tell_guard(void) {
  int begun = 0, ended = 0;
  if (!rgi_guard_exists())
    return;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun)
    rgi_guard_tell_end(ended || rgi_mpich_has_finalized() ? RGI_GUARD_MPI_ENDED
                                                          : RGI_GUARD_MPI_BEGUN);
}
