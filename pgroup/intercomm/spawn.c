/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * More processes, by MPI or out of the reserve. */
#include "intercomm/spawn.h"

#include <regroup/intercomm.h>
#include <stddef.h>

#include "base/error.h"
#include "formation/errhandler.h"
#include "intercomm/reserve.h"
#include "runtime/runtime.h"

const rgi_spawn_backend *rgi_spawn_backend_now(void) {
  return rgi_reserve_is_open() ? &rgi_spawn_reserve : &rgi_spawn_native;
}

int rg_intercomm_spawn(MPI_Comm comm, const char *command, char *argv[], int n, MPI_Comm *inter) {
  int is_inter = 0;
  const rgi_spawn_order order = {command, argv, n};
  MPI_Comm made = MPI_COMM_NULL;
  RGI_REQUIRE(inter);
  RGI_TRY(rgi_runtime_check_mpi(__func__));
  if (comm == MPI_COMM_NULL)
    return rgi_error(RG_ERR_COMM, "%s: the communicator is MPI_COMM_NULL", __func__);
  MPI_Comm_test_inter(comm, &is_inter);
  if (is_inter)
    return rgi_error(RG_ERR_COMM, "%s: an inter-communicator; merge it first", __func__);
  int entry = rgi_errhandler_begin(comm);
  int error = rgi_spawn_backend_now()->spawn(__func__, comm, &order, &made);
  rgi_errhandler_end(entry, error ? MPI_COMM_NULL : made);
  if (!error)
    *inter = made;
  return error;
}
