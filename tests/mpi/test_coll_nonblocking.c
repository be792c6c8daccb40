/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3
 * sources: pgroup/mpi/coll_check.c pgroup/mpi/coll_nonblocking.c
 * What libregroup-mpi.so does with MPI's non-blocking broadcasts and scatters: they are MPI's, and
 * where ranks share processors their root is noted as such, for the next barrier. */
#include <mpi.h>
#include <regroup.h>

#include "collectives/schedule/coll_state.h"
#include "collectives/shared/shared_state.h"
#include "formation/group.h"
#include "mpi/intercept.h"
#include "shm/node.h"
#include "tests/check/check.h"

enum { MOST = 8 };

static rg_group world;

rgi_intercept_fault_hooks rgi_intercept_fault; /* as in a job that tolerates no faults */

/* The library's own finds the group of a communicator that it has served. */
rg_group rgi_intercept_known_group(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD ? world : NULL;
}

static int is_noted(void) {
  const rgi_coll *coll = world->collectives;
  return coll->state->gave && coll->state->gave == coll->state->step;
}

static void call(int which, MPI_Comm comm, int root, MPI_Request *request) {
  static int in[MOST], out;
  int counts[MOST], places[MOST];
  for (int i = 0; i < MOST; i++) {
    in[i] = counts[i] = 1;
    places[i] = i;
  }
  if (which == 0)
    MPI_Ibcast(in, 1, MPI_INT, root, comm, request);
  else if (which == 1)
    MPI_Iscatter(in, 1, MPI_INT, &out, 1, MPI_INT, root, comm, request);
  else
    MPI_Iscatterv(in, counts, places, MPI_INT, &out, 1, MPI_INT, root, comm, request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  RGT_INT(which == 0 ? in[0] : out, 1);
}

static void test_noted(void) {
  MPI_Request request;
  MPI_Comm other;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  for (int which = 0; which < 3; which++)
    for (int root = 0; root < rgt_size; root++)
      for (int shares = 0; shares < 2; shares++) {
        rgi_node.oversubscribed = shares;
        RGT_OK(rg_barrier(world));
        RGT_INT(is_noted(), 0);
        call(which, other, root, &request);
        RGT_INT(is_noted(), 0);
        call(which, MPI_COMM_WORLD, root, &request);
        RGT_INT(is_noted(), shares && rgt_rank == root);
        MPI_Barrier(MPI_COMM_WORLD);
      }
  MPI_Comm_free(&other);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"noted", test_noted}, {NULL, NULL}};
  return rgt_main(argc, argv, "coll_nonblocking", tests);
}
