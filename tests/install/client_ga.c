/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A program for Global Arrays that an installed libregroup-ga serves. */
#include <ga.h>
#include <mpi.h>
#include <regroup/polite.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  GA_Initialize();
  int size = GA_Nnodes(), me = GA_Nodeid(), last = size - 1, value = -1, active = -1;
  char name[] = "client";
  int g = NGA_Create(C_INT, 1, &size, name, NULL);
  NGA_Put(g, &me, &me, &me, NULL);
  GA_Sync();
  NGA_Get(g, &last, &last, &value, NULL);
  GA_Destroy(g);
  if (me == 0 && value == last && rg_polite_active(&active) == 0)
    printf("size %d polite %d\n", size, active);
  GA_Terminate();
  return MPI_Finalize();
}
