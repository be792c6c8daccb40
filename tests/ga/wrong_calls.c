/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Wrong calls of Global Arrays' interface, one in each run: test_ga_errors.py. */
#include <ga.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int square(char *name) {
  int dims[2] = {10, 4};
  return NGA_Create(C_DBL, 2, dims, name, NULL);
}

int main(int argc, char **argv) {
  char name[] = "wrong", text[] = "the program's own text", op[] = "xor";
  const char *which = argc > 1 ? argv[1] : "";
  int lo[2] = {0, 0}, hi[2] = {10, 3}, ld = 4, one = 1, word = 0;
  double buffer[44] = {0};
  if (!strcmp(which, "early"))
    GA_Initialize();
  MPI_Init(&argc, &argv);
  if (!strcmp(which, "uninitialised"))
    GA_Sync();
  GA_Initialize();
  int g = square(name);
  if (!strcmp(which, "bounds"))
    NGA_Put(g, lo, hi, buffer, &ld);
  else if (!strcmp(which, "stride"))
    NGA_Get(g, lo, lo + 1, buffer, &one);
  else if (!strcmp(which, "leading"))
    hi[0] = 9, ld = 3, NGA_Acc(g, lo, hi, buffer, &ld, buffer);
  else if (!strcmp(which, "handle"))
    GA_Zero(g - 1);
  else if (!strcmp(which, "freed"))
    GA_Destroy(g), GA_Destroy(g);
  else if (!strcmp(which, "type"))
    NGA_Create(77, 1, &one, name, NULL);
  else if (!strcmp(which, "dimensions"))
    NGA_Create(C_DBL, 8, hi, name, NULL);
  else if (!strcmp(which, "group"))
    GA_Pgroup_sync(5);
  else if (!strcmp(which, "operation"))
    GA_Igop(&word, 1, op);
  else if (!strcmp(which, "unallocated"))
    GA_Zero(GA_Create_handle());
  else if (!strcmp(which, "mutex"))
    GA_Lock(0);
  else if (!strcmp(which, "shapes"))
    GA_Copy(g, NGA_Create(C_DBL, 1, &one, name, NULL));
  else if (!strcmp(which, "process"))
    NGA_Distribution(g, 99, lo, hi);
  else if (!strcmp(which, "own"))
    GA_Error(text, 7);
  GA_Terminate();
  MPI_Finalize();
  printf("went on\n");
  return 0;
}
