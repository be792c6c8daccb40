/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_Init starts the library after MPI. When MPI_Finalize deletes the attributes of MPI_COMM_SELF,
 * before anything else, the library reports, and serves no further collective, window or memory:
 * that works even if another library intercepts MPI_Finalize. What is there of windows and memory
 * stays until the process ends: attributes of MPI_COMM_WORLD, which go later, may hold it. */
#include <regroup/runtime.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "formation/comm_agree.h"
#include "message/message_mpi.h"
#include "mpi/intercept.h"
#include "mpi/preloaded.h"
#include "mpi/word_exchange.h"
#include "mpich/mpich.h"
#include "progress/mpi_error.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/process.h"

MPI_Comm rgi_intercept_comm = MPI_COMM_NULL;

struct rgi_intercept_arguments rgi_intercept_arguments;

static int reports; /* RG_MPI_REPORT of any process: the report is collective */
static int ends;    /* MPI_Finalize has begun */

/* A collective of MPI's progresses everything else in MPI: one-sided accesses to the caller, sends
 * that it has begun. The library's collectives must do so, too. */
static void progress_mpi(void) {
  int there, finalized = 0;
  if (ends)
    PMPI_Finalized(&finalized);
  if (!finalized)
    rgi_wait_mpi_probe(MPI_ANY_SOURCE, MPI_ANY_TAG, rgi_intercept_comm, &there, MPI_STATUS_IGNORE);
}

void rgi_intercept_end_service(int is_whole) {
  ends = 1;
  rgi_intercept_choose(0);
  if (reports && is_whole)
    rgi_intercept_report(rgi_intercept_comm);
}

static int end_service(MPI_Comm comm, int key, void *value, void *extra) {
  int started = 0;
  (void)comm, (void)key, (void)value, (void)extra;
  rgi_intercept_end_service(1);
  rg_initialized(&started);
  if (started && rgi_process_deaths() == 0 && rgi_runtime_await_all("MPI_Finalize") == RG_SUCCESS) {
    rgi_comm_agree_close(1); /* no process sends to another one any more */
    rgi_message_mpi_close();
  }
  return MPI_SUCCESS;
}

static const char *const call = "MPI_Init";

/* An error of one process on all of them; RG_ERR_OPTION where their RG_MPI differ. */
static int share_error(int error, unsigned wanted) {
  int64_t mine[5] = {rgi_mpi_error_word(rgi_intercept_comm, error), wanted, -(int64_t)wanted,
                     !error && rgi_options_choice(RGI_OPT_MPI_REPORT),
                     !error && rgi_options_value(RGI_OPT_TIMEOUT) > 0};
  int64_t all[5];
  RGI_TRY_MPI(PMPI_Allreduce(mine, all, 5, MPI_INT64_T, MPI_MAX, rgi_intercept_comm));
  reports = rgi_intercept_counting = all[3] != 0;
  rgi_word_exchange_limit(all[4] != 0);
  RGI_TRY(rgi_mpi_error_tell(rgi_intercept_comm, call, all[0], error));
  if (all[1] != -all[2])
    return rgi_error(RG_ERR_OPTION, "RG_MPI is not the same on all processes");
  return RG_SUCCESS;
}

static int start_library(unsigned *wanted) {
  int error = rgi_intercept_wanted(wanted);
  if (!error)
    error = rgi_options_ready();
  RGI_TRY(share_error(error, *wanted));
  rgi_runtime.starts_more = 1;
  return *wanted ? rgi_mpi_error_share(rgi_intercept_comm, call, rg_init(MPI_COMM_WORLD, NULL))
                 : RG_SUCCESS;
}

/* What follows rg_init here does not survive a death. */
static void end_start(void) {
  rgi_runtime.starts_more = 0;
  if (rgi_runtime.started)
    rgi_runtime_ready();
}

/* Where threads of one process may call MPI at the same time MPICH's own choice stays. */
static void choose_algorithms(void) {
  if (rgi_runtime.threads_of_any)
    return;
  int mine = rgi_mpich_algorithms_find(), all = 0;
  if (PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_BAND, rgi_intercept_comm) != MPI_SUCCESS)
    all = 0;
  rgi_mpich_algorithms_use(all);
}

/* MPI_COMM_WORLD gets its group here, where all processes are: at its first collective a program
 * may rely on that MPI's broadcast does not wait for the receivers. */
static void begin_to_serve(void) {
  choose_algorithms();
  rgi_intercept_comm_group(RGI_INTERCEPT_BARRIER, MPI_COMM_WORLD);
  if (rgi_intercept_fault.begin && rgi_runtime_let_guard_report(rgi_intercept_fault.begin()))
    rgi_log(RGI_LOG_WARN, "this job tolerates no faults: %s", rg_error_detail());
}

/* Starts the library, or says why not: then all calls are passed on to MPI. A wrong option is an
 * error of MPI_Init. */
static int begin_with_all(void) {
  unsigned wanted = 0;
  int key, rank;
  if (PMPI_Comm_dup(MPI_COMM_WORLD, &rgi_intercept_comm) != MPI_SUCCESS)
    return MPI_SUCCESS;
  PMPI_Comm_set_errhandler(rgi_intercept_comm, MPI_ERRORS_RETURN);
  PMPI_Comm_rank(rgi_intercept_comm, &rank);
  int error = start_library(&wanted);
  if (error == RG_ERR_OPTION)
    return rgi_intercept_raise(RGI_INTERCEPT_COUNT, MPI_COMM_WORLD, error);
  if (!error) {
    rgi_wait_meanwhile = progress_mpi;
    rgi_intercept_choose(wanted);
    if (wanted)
      begin_to_serve();
  } else if (rank == 0)
    rgi_log(RGI_LOG_WARN, "all calls are passed on to MPI: %s", rg_error_detail());
  end_start();
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_service, &key, NULL);
  int code = PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  error = rgi_intercept_fault.part ? rgi_intercept_fault.part() : RG_SUCCESS;
  return error ? rgi_intercept_raise(RGI_INTERCEPT_COUNT, MPI_COMM_WORLD, error) : code;
}

/* After MPI's own initialisation. */
static int begin_library(void) {
  int first = 0, missing = rgi_preloaded_find_missing(&first);
  if (missing < 0)
    return begin_with_all();
  if (first && rgi_options_ready() == RG_SUCCESS)
    rgi_log(RGI_LOG_WARN,
            "rank %d of MPI_COMM_WORLD runs without libregroup-mpi.so: it is not preloaded there, "
            "or the program takes MPI's functions from MPI's library by dlsym; all calls of all "
            "ranks are passed on to MPI",
            missing);
  return MPI_SUCCESS;
}

/* A tool behind this library calls MPI_Init's other name, or MPI_Init_thread, in its own MPI_Init.
 * The library begins at the end of the first of these calls. */
static int depth;

static void before_init(int *argc, char ***argv) {
  rgi_intercept_arguments = (struct rgi_intercept_arguments){argc, argv};
  if (depth++ == 0)
    rgi_preloaded_tell();
  rgi_mpich_start_begin();
}

static int after_init(int error) {
  static int begun;
  rgi_mpich_start_end();
  return --depth > 0 || error || begun++ ? error : begin_library();
}

/* The call goes to the next library that has the function: a tool may begin there. */
RG_API int MPI_Init(int *argc, char ***argv) {
  before_init(argc, argv);
  return after_init(RGI_INTERCEPT_NEXT(MPI_Init)(argc, argv));
}

RG_API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  before_init(argc, argv);
  return after_init(RGI_INTERCEPT_NEXT(MPI_Init_thread)(argc, argv, required, provided));
}

RG_API int PMPI_Init(int *argc, char ***argv) {
  before_init(argc, argv);
  return after_init(RGI_INTERCEPT_NEXT(PMPI_Init)(argc, argv));
}

RG_API int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  before_init(argc, argv);
  return after_init(RGI_INTERCEPT_NEXT(PMPI_Init_thread)(argc, argv, required, provided));
}
