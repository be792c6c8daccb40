/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_slurm_run.py starts: a program that ends before rg_init has returned everywhere.
 *
 *     early RANK MOMENT
 *
 * The rank kills itself at the moment: before (MPI_Init), between (MPI_Init and rg_init); at "exit"
 * it ends with status 3 before MPI_Init. At "usage" all ranks end with status 2 after MPI_Finalize.
 */
#include <mpi.h>
#include <regroup.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void die_at(char **argv, const char *moment) {
  const char *rank = getenv("PMI_RANK");
  if (!rank || strcmp(rank, argv[1]) != 0 || strcmp(moment, argv[2]) != 0)
    return;
  if (!strcmp(moment, "exit"))
    exit(3);
  raise(SIGKILL);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  die_at(argv, "before");
  die_at(argv, "exit");
  MPI_Init(&argc, &argv);
  if (!strcmp(argv[2], "usage")) {
    MPI_Finalize();
    return 2;
  }
  die_at(argv, "between");
  int error = rg_init(MPI_COMM_WORLD, NULL);
  if (!error)
    rg_finalize();
  MPI_Finalize();
  return error != 0;
}
