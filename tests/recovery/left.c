/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_left.py starts, with RG_SURVIVE=1 on two nodes: rank 0 marks itself as having left, as
 * rg_finalize does, and then sends to rank 1, whose process has ended. MPI's error is explained by
 * that, although nobody has died. Rank 0 prints "LEFT". */
#include <errno.h>

#include "base/clock.h"
#include "message/message_mpi.h"
#include "noded/client/overlay_client.h"
#include "ranks.h"
#include "shm/process.h"

int main(int argc, char **argv) {
  int pid = getpid();
  rg_group world = enter_world(&argc, &argv);
  if (my_rank == 1)
    MPI_Send(&pid, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (my_rank == 0) {
    MPI_Recv(&pid, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    rgi_process_leave();
    rgi_overlay_tell(RGI_FACT_LEFT, 0);
    while (!kill(pid, 0))
      rgi_clock_sleep(1e-3);
    must(errno == ESRCH, "kill");
    must(rgi_message_mpi_is_lost(1), "a rank that has left waits for what became of another");
    puts("LEFT");
    fflush(stdout);
  }
  leave_world(&world);
  return 0;
}
