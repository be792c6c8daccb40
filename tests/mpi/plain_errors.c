/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Wrong calls: the error's class, and that it comes through the communicator's handler. */
#include <stddef.h>

#include "plain.h"

static int handled;

static void handle(MPI_Comm *comm, int *code, ...) {
  MPI_Comm copy;
  (void)code;
  handled++;
  if (*comm != MPI_COMM_NULL && MPI_Comm_dup(*comm, &copy) == MPI_SUCCESS)
    MPI_Comm_free(&copy);
}

static void told(const char *name, int code) {
  int class;
  MPI_Error_class(code, &class);
  plain_number(name, class * 100 + handled);
  handled = 0;
}

/* With Open MPI 4.1 these are segmentation faults of its own. */
static void wrong_memory(MPI_Comm comm) {
#ifndef OPEN_MPI
  int in[64] = {0}, out[64], negative[64], displs[64] = {0};
  for (int i = 0; i < 64; i++)
    negative[i] = -1;
  told("memory", MPI_Bcast(NULL, 1, MPI_INT, 0, comm));
  told("counts", MPI_Allgatherv(in, 1, MPI_INT, out, negative, displs, MPI_INT, comm));
#endif
  (void)comm;
}

static void wrong_calls(MPI_Comm comm) {
  int size, in[64] = {0}, out[64];
  MPI_Comm_size(comm, &size);
  told("good", MPI_Bcast(in, 1, MPI_INT, 0, comm));
  told("root", MPI_Bcast(in, 1, MPI_INT, size, comm));
  told("negative root", MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, -7, comm));
  told("count", MPI_Bcast(in, -1, MPI_INT, 0, comm));
  told("type", MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, comm));
  told("operation", MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
  told("no such operation", MPI_Scan(in, out, 1, MPI_DOUBLE, MPI_BAND, comm));
  told("place", MPI_Alltoall(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
  wrong_memory(comm);
  told("good again", MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm));
}

int main(int argc, char **argv) {
  MPI_Errhandler own;
  MPI_Comm comm;
  int flag;
  MPI_Initialized(&flag);
  MPI_Init(&argc, &argv);
  plain_number("initialised before", flag);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  wrong_calls(MPI_COMM_WORLD);
  MPI_Comm_create_errhandler(handle, &own);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, own);
  MPI_Errhandler_free(&own);
  wrong_calls(comm);
  MPI_Comm_free(&comm);
  told("no communicator", MPI_Barrier(MPI_COMM_NULL));
  MPI_Finalize();
  return 0;
}
