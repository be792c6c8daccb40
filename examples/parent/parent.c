/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A parent that starts children and receives a sum from them: examples/child is their
 * program. Where MPI cannot start processes the children come out of the reserve:
 *
 *     mpiexec -genv RG_RESERVE 3 -n 1 example-parent : -n 3 example-child */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <string.h>

#include "../common/check.h"

#define CHILDREN 3

static int fail(void) {
  fprintf(stderr, "%s\n", rg_error_detail());
  common_abort(1);
  return 1;
}

/* The program of the children lies beside this one. */
static void name_of_child(const char *own, char command[1024]) {
  const char *slash = strrchr(own, '/');
  int folder = slash ? (int)(slash - own) + 1 : 0;
  snprintf(command, 1024, "%.*sexample-child", folder, own);
}

int main(int argc, char **argv) {
  MPI_Comm world, parent, children;
  char command[1024];
  int rank, started, sum = 0, nothing = 0;
  MPI_Init(&argc, &argv);
  if (rg_intercomm_parent(&world, &parent, &started))
    fail();
  if (world != MPI_COMM_NULL) { /* MPI_COMM_NULL: the process slept in reserve and was not needed */
    MPI_Comm_rank(world, &rank);
    name_of_child(argv[0], command);
    int error = rg_intercomm_spawn(world, command, NULL, CHILDREN, &children);
    if (error == RG_ERR_UNSUPPORTED && rank == 0)
      printf("no children today. %s\n", rg_error_detail());
    else if (error && error != RG_ERR_UNSUPPORTED)
      fail();
    if (!error) {
      /* A reduction over the inter-communicator: the parent gets the sum of the children's values.
       */
      MPI_Reduce(&nothing, &sum, 1, MPI_INT, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL,
                 children);
      if (rank == 0)
        printf("hello from the parent: %d children, whose ranks add up to %d\n", CHILDREN, sum);
      MPI_Comm_disconnect(&children);
    }
  }
  if (started)
    rg_finalize();
  MPI_Finalize();
  return 0;
}
