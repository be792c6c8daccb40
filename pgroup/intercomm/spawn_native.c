/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Spawning and connecting by MPI's own functions, where it has them. Where it has not, the error
 * says how to start the job with a reserve instead. */
#include <regroup/intercomm.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "formation/errhandler.h"
#include "formation/failure_scope.h"
#include "intercomm/reserve.h"
#include "intercomm/spawn.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"

/* Whatever the reason for which MPI refuses, a reserve helps. */
static int check_supported(const char *call, int mpi_code) {
  char text[MPI_MAX_ERROR_STRING];
  if (mpi_code == MPI_SUCCESS)
    return RG_SUCCESS;
  rgi_mpi_error_lines(mpi_code, text);
  text[strcspn(text, "\n")] = '\0';
  size_t end = strlen(text);
  if (end && (text[end - 1] == ':' || text[end - 1] == ','))
    text[end - 1] = '\0';
  return rgi_error(RG_ERR_UNSUPPORTED,
                   "%s: this MPI cannot do it here (%s). Start the job with n more processes and "
                   "RG_RESERVE=n instead: mpiexec -n 8 -genv RG_RESERVE 3 ...",
                   call, text);
}

/* Starting a program that does not exist can end the whole job. */
static int can_start(const char *command) {
  return command && *command && (!strchr(command, '/') || access(command, X_OK) == 0);
}

/* Rank 0. */
static int check_order(const char *call, const rgi_spawn_order *order) {
  if (order->n < 1 || order->n > RGI_SPAWN_MOST)
    return rgi_error(RG_ERR_ARG, "%s: %d processes; 1 to %d can be started", call, order->n,
                     RGI_SPAWN_MOST);
  return can_start(order->command)
             ? RG_SUCCESS
             : rgi_error(RG_ERR_ARG, "%s: %s is no program that can be started", call,
                         order->command ? order->command : "NULL");
}

static int spawn_processes(const char *call, MPI_Comm comm, const rgi_spawn_order *order,
                           MPI_Comm *inter) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  RGI_TRY(rgi_failure_scope_meet(call, comm));
  RGI_TRY(rgi_mpi_error_share(comm, call, rank == 0 ? check_order(call, order) : RG_SUCCESS));
  return check_supported(call, MPI_Comm_spawn(order->command,
                                              order->argv ? order->argv : MPI_ARGV_NULL, order->n,
                                              MPI_INFO_NULL, 0, comm, inter, MPI_ERRCODES_IGNORE));
}

/* MPI reports errors of calls without a communicator on MPI_COMM_WORLD. */
static int open_port(const char *call, char port[MPI_MAX_PORT_NAME]) {
  int entry = rgi_errhandler_begin(MPI_COMM_WORLD);
  int error = check_supported(call, MPI_Open_port(MPI_INFO_NULL, port));
  rgi_errhandler_end(entry, MPI_COMM_NULL);
  return error;
}

static void close_port(char port[MPI_MAX_PORT_NAME]) {
  MPI_Close_port(port);
}

static int accept_clients(const char *call, char port[MPI_MAX_PORT_NAME], MPI_Comm comm,
                          MPI_Comm *inter) {
  return check_supported(call, MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, inter));
}

static int connect_to(const char *call, char port[MPI_MAX_PORT_NAME], MPI_Comm comm,
                      MPI_Comm *inter) {
  return check_supported(call, MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, inter));
}

const rgi_spawn_backend rgi_spawn_native = {.spawn = spawn_processes,
                                            .open_port = open_port,
                                            .close_port = close_port,
                                            .accept = accept_clients,
                                            .connect = connect_to};

/* --- the call: by MPI or out of the reserve --------------------------------------------------- */

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
