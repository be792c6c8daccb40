/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The app.c of docs/guide.md: a program that knows nothing of Regroup, but for
 * the test it looks whether its waits are polite. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

int main(int argc, char **argv) {
  int polite = 0;
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  int (*ask)(int *) = (int (*)(int *))dlsym(RTLD_DEFAULT, "rg_polite_active");
  if (ask)
    ask(&polite);
  MPI_Finalize();
  return polite ? 0 : 1;
}
