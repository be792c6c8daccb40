/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For test_fault.py: a preloaded library by which the rank DYING_RANK kills itself in the
 * DYING_CALL-th call of MPI_Comm_create_keyval that libregroup-mpi.so makes in
 * MPI_Init: two before all have started, one afterwards. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *drop,
                            int *key, void *extra) {
  static int calls;
  int (*next)(MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *, void *) =
      (int (*)(MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *, void *))dlsym(
          RTLD_NEXT, "PMPI_Comm_create_keyval");
  if (atoi(getenv("PMI_RANK")) == atoi(getenv("DYING_RANK")) &&
      ++calls == atoi(getenv("DYING_CALL")))
    raise(SIGKILL);
  return next(copy, drop, key, extra);
}
