/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_slurm_run.py starts: a program that is killed before rg_init has returned everywhere.
 *
 *     early RANK MOMENT
 *
 * The rank kills itself at the moment: before (MPI_Init), between (MPI_Init and rg_init). */
#include <mpi.h>
#include <regroup.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void die_at(char **argv, const char *moment) {
  const char *rank = getenv("PMI_RANK");
  if (rank && !strcmp(rank, argv[1]) && !strcmp(moment, argv[2]))
    raise(SIGKILL);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  die_at(argv, "before");
  MPI_Init(&argc, &argv);
  die_at(argv, "between");
  int error = rg_init(MPI_COMM_WORLD, NULL);
  if (!error)
    rg_finalize();
  MPI_Finalize();
  return error != 0;
}
