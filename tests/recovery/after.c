/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_slurm_run.py starts: after SECONDS. When rg_finalize has returned, the last rank goes
 * on for so long, and ends with the status 7; rank 0 prints "ALL HAVE LEFT". */
#include "ranks.h"

int main(int argc, char **argv) {
  rg_group world = enter_world(&argc, &argv);
  leave_world(&world);
  if (my_rank == 0)
    puts("ALL HAVE LEFT");
  if (my_rank < world_size - 1)
    return 0;
  sleep((unsigned)atoi(argv[1]));
  return 7;
}
