/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A process that MPI spawned has a parent (MPI_Comm_get_parent). Otherwise the first call is
 * collective over MPI_COMM_WORLD: the processes compare the options that they were given and, if
 * one of them wants a reserve, start the library and open it. From then on the reserve tells a
 * process its world and its parent. */
#include "intercomm/startup.h"

#include <regroup/reserve.h>
#include <regroup/runtime.h>
#include <stddef.h>

#include "base/error.h"
#include "base/options.h"
#include "formation/errhandler.h"
#include "intercomm/reserve.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"
#include "shm/failure.h"

static int check_how(const char *call, const rg_inter_options *how, int size) {
  if (!how || how->kind == RG_INTER_NONE)
    return RG_SUCCESS;
  if (!rg_inter_kind_name(how->kind))
    return rgi_error(RG_ERR_ARG, "%s: %d is no kind of inter-communicator", call, (int)how->kind);
  if (how->n < 0 || (how->n == 0 && how->kind != RG_INTER_SPLIT))
    return rgi_error(RG_ERR_ARG, "%s: --%s=%d: at least 1 process is wanted", call,
                     rg_inter_kind_name(how->kind), how->n);
  if (how->kind == RG_INTER_SPLIT && (size < 2 || how->n >= size))
    return rgi_error(RG_ERR_ARG,
                     "%s: --split=%d of %d process%s: both groups need at least 1; start more with "
                     "mpiexec -n",
                     call, how->n, size, size == 1 ? "" : "es");
  return RG_SUCCESS;
}

int rgi_startup_dup(MPI_Comm comm, MPI_Comm *quiet) {
  int entry = rgi_errhandler_begin(comm);
  int error = rgi_mpi_error(MPI_Comm_dup(comm, quiet), "MPI_Comm_dup");
  rgi_errhandler_end(entry, MPI_COMM_NULL);
  if (!error)
    MPI_Comm_set_errhandler(*quiet, MPI_ERRORS_RETURN);
  return error;
}

/* What the processes compare; from NEGATIVE on the negated numbers. */
enum { WORD, RESERVE, KIND, SIDE, NEGATIVE, NUMBERS = NEGATIVE + 2 };

static int compare_options(const char *call, MPI_Comm quiet, const int64_t mine[NUMBERS], int error,
                           int *reserve) {
  int64_t all[NUMBERS];
  RGI_TRY_MPI(MPI_Allreduce(mine, all, NUMBERS, MPI_INT64_T, MPI_MAX, quiet));
  RGI_TRY(rgi_mpi_error_tell(quiet, call, all[WORD], error));
  if (all[KIND] != -all[NEGATIVE] || all[SIDE] != -all[NEGATIVE + 1])
    return rgi_error(RG_ERR_MISMATCH,
                     "%s: the processes were given different options for inter-communicators",
                     call);
  *reserve = (int)all[RESERVE];
  return RG_SUCCESS;
}

/* An error unless all processes have the same options and none an error. *reserve: in, how many
 * this process wants in reserve; out, the most that one wants. */
static int agree_on_options(const char *call, MPI_Comm comm, const rg_inter_options *how, int error,
                            int *reserve) {
  int64_t kind = how ? (int64_t)how->kind : 0, n = how ? how->n : 0;
  int64_t mine[NUMBERS] = {rgi_mpi_error_word(comm, error), *reserve, kind, n, -kind, -n};
  MPI_Comm quiet;
  RGI_TRY(rgi_startup_dup(comm, &quiet));
  error = compare_options(call, quiet, mine, error, reserve);
  MPI_Comm_free(&quiet);
  return error;
}

/* The first call: no process of MPI_COMM_WORLD sleeps yet. */
static int enter_first(const char *call, const rg_inter_options *how, rgi_startup *startup) {
  int size, reserve;
  rg_group outside;
  /* Options given to an earlier rg_init hold no more. */
  int error = rgi_runtime.started ? RG_SUCCESS : rgi_options_load(NULL);
  reserve = rgi_options_choice(RGI_OPT_RESERVE);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  RGI_TRY(agree_on_options(call, MPI_COMM_WORLD, how, error, &reserve));
  RGI_TRY(check_how(call, how, reserve < size ? size - reserve : size));
  startup->world = MPI_COMM_WORLD;
  if (reserve == 0)
    return RG_SUCCESS;
  RGI_TRY(rg_init(MPI_COMM_WORLD, NULL));
  error = rg_reserve_open(reserve, &outside);
  if (error) {
    rg_finalize();
    return error;
  }
  rg_group_free(&outside);
  startup->started = 1;
  return rgi_reserve_enter(&startup->world, &startup->parent);
}

int rgi_startup_enter(const char *call, const rg_inter_options *how, rgi_startup *startup) {
  rgi_startup e = {MPI_COMM_NULL, MPI_COMM_NULL, 0};
  int size, none = 0;
  RGI_TRY(rgi_runtime_check_mpi(call));
  rgi_failure_scope_now = (rgi_failure_scope){0};
  MPI_Comm_get_parent(&e.parent);
  if (how && how->kind != RG_INTER_SPAWN && how->kind != RG_INTER_CONNECT)
    e.parent =
        MPI_COMM_NULL; /* another program's: what this library starts has one of these options */
  if (e.parent == MPI_COMM_NULL && !rgi_reserve_is_open()) {
    RGI_TRY(enter_first(call, how, &e));
    *startup = e;
    return RG_SUCCESS;
  }
  if (e.parent != MPI_COMM_NULL)
    e.world = MPI_COMM_WORLD;
  else
    RGI_TRY(rgi_reserve_enter(&e.world, &e.parent));
  if (e.world != MPI_COMM_NULL && e.parent == MPI_COMM_NULL) {
    RGI_TRY(agree_on_options(call, e.world, how, RG_SUCCESS, &none));
    MPI_Comm_size(e.world, &size);
    RGI_TRY(check_how(call, how, size));
  }
  *startup = e;
  return RG_SUCCESS;
}

int rgi_startup_end(rgi_startup *startup) {
  int started = startup->started;
  startup->started = 0;
  return started ? rg_finalize() : RG_SUCCESS;
}

int rg_intercomm_parent(MPI_Comm *world, MPI_Comm *parent, int *started) {
  rgi_startup startup;
  RGI_REQUIRE(world);
  RGI_REQUIRE(parent);
  RGI_REQUIRE(started);
  RGI_TRY(rgi_startup_enter(__func__, NULL, &startup));
  *world = startup.world;
  *parent = startup.parent;
  *started = startup.started;
  return RG_SUCCESS;
}
