/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Starting and stopping. rg_init is collective: all processes first agree on errors that single
 * ones have found (bad options, another communicator), then start the same things in the same
 * order: tuning, the world's duplicate, the nodes with arena, table of processes and daemons
 * (cluster.c), the slots, the modules. What was opened is closed again after an error. rg_init is
 * counted; only the last rg_finalize stops the library, in the opposite order. */
#include "runtime/runtime.h"

#include <pthread.h>
#include <regroup/polite.h>
#include <regroup/runtime.h>
#include <regroup/version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/launcher.h"
#include "base/log.h"
#include "base/options.h"
#include "machine/domain.h"
#include "machine/machine.h"
#include "mpich/mpich.h"
#include "noded/client/guard_client.h"
#include "noded/client/overlay_client.h"
#include "progress/mpi_error.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/slot.h"
#include "progress/wait.h"
#include "runtime/cluster.h"
#include "runtime/finalize.h"
#include "runtime/module.h"
#include "runtime/node_memory.h"
#include "runtime/tuning.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"

#define GUARD_SECONDS 3.0
#define JOB_KNOWN ((uint64_t)1 << 62) /* of rgi_runtime.job: larger than all that is proposed */

rgi_runtime_info rgi_runtime = {.comm = MPI_COMM_NULL, .mpi_group = MPI_GROUP_NULL};

/* A child of fork has the memory of a process that it is not: its calls would be taken for that
 * process's own. */
static void forget_start(void) {
  rgi_runtime.started = 0;
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, forget_start);
}

int rgi_runtime_check(const char *call) {
  return rgi_runtime.started ? RG_SUCCESS
                             : rgi_error(RG_ERR_NOT_INIT, "%s: call rg_init first", call);
}

int rgi_runtime_check_mpi(const char *call) {
  int on = 0, off = 0;
  MPI_Initialized(&on);
  MPI_Finalized(&off);
  return on && !off ? RG_SUCCESS
                    : rgi_error(RG_ERR_MPI, "%s: MPI is %s", call,
                                off ? "finalised already" : "not initialised: call MPI_Init first");
}

/* Errors that this process can find alone. */
static int look_at_call(MPI_Comm comm, const char *options) {
  int same = MPI_UNEQUAL;
  if (!rgi_runtime.started) {
    RGI_TRY(rgi_options_load(options));
    RGI_TRY(rgi_domain_load());
    RGI_TRY(rgi_machine_check_options("rg_init"));
    return rgi_runtime.read_algorithms ? rgi_runtime.read_algorithms() : RG_SUCCESS;
  }
  MPI_Comm_compare(comm, rgi_runtime.comm, &same);
  if (same == MPI_IDENT || same == MPI_CONGRUENT)
    return RG_SUCCESS;
  return rgi_error(RG_ERR_INIT,
                   "rg_init: already running over another %d processes; call "
                   "rg_finalize first",
                   rgi_runtime.size);
}

int rgi_runtime_may_threads_call(void) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

/* What this process proposes for rgi_runtime.job: the one that it has wins. */
static int64_t propose_job(void) {
  uint64_t random = 0;
  if (rgi_runtime.job)
    return (int64_t)rgi_runtime.job;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
    random = (uint64_t)(rgi_clock_now() * 1e9) * (uint64_t)getpid();
  return (int64_t)(random >> 2 | 1);
}

/* rg_init's first exchange: here it waits for processes that call it late. */
static int await_exchange(MPI_Request *exchange) {
  rgi_wait wait;
  int there = 0;
  rgi_wait_start_unscoped(&wait, "rg_init", -1);
  wait.alone = wait.unlimited = 1;
  for (;;) {
    RGI_TRY_MPI(rgi_wait_mpi_test(exchange, &there));
    if (there)
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_more(&wait));
  }
}

/* All processes return an error if one has found one, or RG_ERR_INIT if the library runs on some of
 * them only. */
static int agree_on_call(MPI_Comm comm, int error) {
  int64_t mark = rgi_modules_mark(), domain = (int64_t)rgi_domain_own(), all[9];
  int64_t mine[9] = {rgi_mpi_error_word(comm, error),
                     rgi_runtime.started > 0,
                     rgi_runtime.started == 0,
                     mark,
                     -mark,
                     domain,
                     ~domain,
                     rgi_runtime_may_threads_call(),
                     propose_job()};
  MPI_Request exchange;
  RGI_TRY_MPI(MPI_Iallreduce(mine, all, 9, MPI_INT64_T, MPI_MAX, comm, &exchange));
  RGI_TRY(await_exchange(&exchange));
  RGI_TRY(rgi_mpi_error_tell(comm, "rg_init", all[0], error));
  if (all[1] && all[2])
    return rgi_error(RG_ERR_INIT, "rg_init: the library runs already on some of the processes");
  if (!rgi_runtime.job)
    rgi_runtime.job = (uint64_t)all[8] | JOB_KNOWN;
  if (!rgi_runtime.started) {
    rgi_modules_use(all[3] == -all[4]);
    rgi_runtime.threads_of_any = (int)all[7];
  }
  return rgi_runtime.started || all[5] == ~all[6] ? RG_SUCCESS : rgi_domain_share(comm);
}

static int open_layers(void) {
  RGI_TRY(rgi_cluster_open(rgi_runtime.comm, rgi_slot_table_bytes()));
  rgi_slots_open(rgi_cluster_extra());
  int error = rgi_modules_open();
  if (error)
    rgi_cluster_close();
  return error;
}

static int start_runtime(MPI_Comm comm) {
  rgi_runtime.threads = rgi_runtime_may_threads_call();
  RGI_TRY_MPI(MPI_Comm_dup(comm, &rgi_runtime.comm));
  MPI_Comm_set_errhandler(rgi_runtime.comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(rgi_runtime.comm, &rgi_runtime.rank);
  MPI_Comm_size(rgi_runtime.comm, &rgi_runtime.size);
  rgi_runtime.mpi_group = MPI_GROUP_NULL;
  int error =
      rgi_mpi_error(MPI_Comm_group(rgi_runtime.comm, &rgi_runtime.mpi_group), "MPI_Comm_group");
  if (!error)
    error = open_layers();
  if (error) {
    if (rgi_runtime.mpi_group != MPI_GROUP_NULL)
      MPI_Group_free(&rgi_runtime.mpi_group);
    MPI_Comm_free(&rgi_runtime.comm);
  }
  rgi_runtime.epoch++;
  rgi_runtime.world_rounds = 0;
  rgi_runtime.world_derived = 0;
  rgi_runtime.world_creations = 0;
  rgi_runtime.world_sequence = 0;
  return error;
}

extern char **environ;

/* A variable RG_... that is no option is probably misspelt. */
static void warn_of_unknown_options(void) {
  for (char **e = environ; *e; e++) {
    size_t length = strcspn(*e, "=");
    if (strncmp(*e, "RG_", 3) == 0 && !rgi_options_known(*e, length))
      rgi_log(RGI_LOG_WARN, "%.*s is set, but there is no such option: see regroup-info",
              (int)length, *e);
  }
}

/* A launcher's processes are one job only if it speaks the protocol with which MPI was built. Else
 * each is alone, and the first one tells. */
static void warn_of_single_tasks(void) {
  static const struct {
    const char *rank, *size, *launcher;
  } all[] = {{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun"},
             {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"}};
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; size == 1 && !rgi_mpich_pmi_speaks() && i < sizeof all / sizeof *all; i++) {
    const char *rank = getenv(all[i].rank);
    int tasks = rgi_launcher_number(all[i].size);
    if (rank && !strcmp(rank, "0") && tasks > 1)
      rgi_log(RGI_LOG_WARN,
              "%s has started %d tasks, but MPI knows of one process: each task is a job of its "
              "own; with MPICH, mpiexec.hydra or srun --mpi=pmi2 makes them one job",
              all[i].launcher, tasks);
  }
}

static void warn_of_unknown_mpi(void) {
  if (rgi_guard_exists() && !rgi_mpich_gives()->can_interrupt)
    rgi_log(RGI_LOG_WARN,
            "RG_SURVIVE=1: calls of this MPI cannot be interrupted (MPICH 4.0 and 4.2 "
            "over UCX are known): a death while communicators are made is not "
            "survived, and RG_PATIENCE ends the job");
}

/* Whether MPI's waits are polite is known when MPI has polled once. A process alone may not have,
 * and then tests a receive that no message is for. */
static int is_polite(void) {
  int polite = 0, done;
  MPI_Request none;
  rg_polite_active(&polite);
  if (!polite && rgi_runtime.size == 1 &&
      PMPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, rgi_runtime.comm, &none) == MPI_SUCCESS) {
    PMPI_Test(&none, &done, MPI_STATUS_IGNORE);
    PMPI_Cancel(&none);
    PMPI_Wait(&none, MPI_STATUS_IGNORE);
  }
  rg_polite_active(&polite); /* also brings polite.c along from the static library */
  return polite;
}

static void tell_configuration(void) {
  int polite = is_polite();
  char memory[RGI_NODE_MEMORY_TEXT];
  warn_of_unknown_options();
  warn_of_single_tasks();
  warn_of_unknown_mpi();
  rgi_log(RGI_LOG_INFO, "regroup %s: %d processes, %d of them on this node with %d processors%s",
          RG_VERSION, rgi_runtime.size, rgi_node.n, rgi_node.processors,
          rgi_node.oversubscribed ? ": oversubscribed" : "");
  rgi_log(RGI_LOG_INFO, "MPI's own waits are %s",
          !polite                   ? "not polite"
          : rgi_mpich_yields_only() ? "polite: they yield, and do not sleep"
                                    : "polite");
  rgi_node_memory_describe(memory);
  rgi_log(RGI_LOG_INFO, "shared memory: %s", memory);
  for (int i = 0; i < RGI_OPT_COUNT; i++) {
    const char *name, *value, *origin;
    rg_option_get(i, &name, &value, NULL, NULL, NULL, &origin);
    rgi_log(RGI_LOG_INFO, "%s=%s (%s)", name, value, origin);
  }
}

int rgi_runtime_let_guard_report(int error) {
  if ((error == RG_ERR_MPI || error == RG_ERR_PROC_FAILED) && rgi_guard_exists())
    rgi_clock_sleep(GUARD_SECONDS);
  return error;
}

/* A death is survived when all of the node are ready: so no process goes on before, and dies. */
static void await_ready(void) {
  rgi_wait wait;
  rgi_wait_start_unscoped(&wait, "rg_init", -1);
  wait.alone = wait.unlimited = 1;
  while (!rgi_process_all_ready() && rgi_wait_more(&wait) == RG_SUCCESS)
    ;
}

void rgi_runtime_ready(void) {
  int reports = !rgi_runtime.threads && rgi_guard_exists();
  rgi_mpich_waits = reports ? rgi_process_note_wait : NULL;
  rgi_process_ready(reports);
  if (rgi_guard_exists())
    await_ready();
}

static int start_first(MPI_Comm comm) {
  RGI_TRY(rgi_tuning_load(comm));
  rgi_mpich_interrupt_open(rgi_guard_exists());
  return start_runtime(comm);
}

/* The handler of the communicator would end the job, with MPI's words, where another process has
 * died; its guard knows why. */
static int start_quietly(MPI_Comm comm, const char *options) {
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(comm, &handler);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int error = agree_on_call(comm, look_at_call(comm, options));
  if (!error && !rgi_runtime.started)
    error = start_first(comm);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  return error;
}

int rg_init(MPI_Comm comm, const char *options) {
  int inter = 0;
  RGI_TRY(rgi_runtime_check_mpi("rg_init"));
  if (comm == MPI_COMM_NULL)
    return rgi_error(RG_ERR_COMM, "rg_init: the communicator is MPI_COMM_NULL");
  MPI_Comm_test_inter(comm, &inter);
  if (inter)
    return rgi_error(RG_ERR_COMM, "rg_init: an inter-communicator; merge it first");
  RGI_TRY(rgi_runtime_let_guard_report(start_quietly(comm, options)));
  if (++rgi_runtime.started == 1) {
    if (!rgi_runtime.starts_more)
      rgi_runtime_ready();
    rgi_log_start(rgi_runtime.rank);
    if (rgi_runtime.rank == 0)
      tell_configuration();
  }
  return RG_SUCCESS;
}

/* Until all processes are in rg_finalize: no process sends to one that has left. Meanwhile the
 * requests that the application has freed go on, which other processes may wait for. */
int rgi_runtime_await_all(const char *call) {
  MPI_Request barrier;
  rgi_wait wait;
  int there = 0;
  RGI_TRY_MPI(MPI_Ibarrier(rgi_runtime.comm, &barrier));
  rgi_wait_start_unscoped(&wait, call, -1);
  wait.alone = wait.unlimited = 1;
  for (;;) {
    RGI_TRY_MPI(rgi_wait_mpi_test(&barrier, &there));
    if (there)
      return RG_SUCCESS;
    rgi_progress(); /* an error has no receiver any more */
    rgi_requests_progress();
    RGI_TRY(rgi_wait_more(&wait));
  }
}

/* After a death MPI's collective calls never return, and a death may come at any moment. So a job
 * that survives deaths finalizes without MPI: finalize.c. */
static int end_mpi(void) {
  rgi_process_check_now();
  if (rgi_process_deaths() > 0 ||
      (rgi_guard_exists() && (rgi_node.count == 1 || rgi_overlay_exists()))) {
    RGI_TRY(rgi_finalize_wait());
    rgi_modules_close(0);
    rgi_finalize_without_mpi();
    return RG_SUCCESS;
  }
  RGI_TRY(rgi_runtime_await_all("rg_finalize"));
  rgi_requests_drop_freed();
  rgi_modules_close(1);
  MPI_Group_free(&rgi_runtime.mpi_group);
  MPI_Comm_free(&rgi_runtime.comm);
  rgi_runtime_self_free();
  return RG_SUCCESS;
}

int rg_finalize(void) {
  RGI_TRY(rgi_runtime_check("rg_finalize"));
  if (rgi_runtime.started > 1) {
    rgi_runtime.started--;
    return RG_SUCCESS;
  }
  rgi_failure_scope_now = (rgi_failure_scope){0};
  if (rgi_runtime.before_finalize)
    RGI_TRY(rgi_runtime.before_finalize());
  if (rgi_runtime.groups > 0)
    rgi_log(RGI_LOG_INFO, "rg_finalize: %ld groups are still alive", (long)rgi_runtime.groups);
  if (rgi_runtime_check_mpi("rg_finalize") == RG_SUCCESS)
    RGI_TRY(end_mpi());
  else {
    rgi_modules_close(0);
  }
  rgi_runtime.started = 0;
  rgi_domain_close();
  rgi_log_stop();
  rgi_cluster_close();
  return RG_SUCCESS;
}

int rg_initialized(int *flag) {
  RGI_REQUIRE(flag);
  *flag = rgi_runtime.started > 0;
  return RG_SUCCESS;
}

int rg_version(int *major, int *minor, int *patch) {
  if (major)
    *major = RG_VERSION_MAJOR;
  if (minor)
    *minor = RG_VERSION_MINOR;
  if (patch)
    *patch = RG_VERSION_PATCH;
  return RG_SUCCESS;
}

static struct {
  pthread_mutex_t lock;
  int made;
  MPI_Comm comm;
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Split, not duplicated: that would call the application's functions for attributes. */
MPI_Comm rgi_runtime_self(void) {
  pthread_mutex_lock(&own.lock);
  if (!own.made) {
    own.made = PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &own.comm) == MPI_SUCCESS;
    if (own.made)
      PMPI_Comm_set_errhandler(own.comm, MPI_ERRORS_RETURN);
  }
  MPI_Comm comm = own.made ? own.comm : MPI_COMM_NULL;
  pthread_mutex_unlock(&own.lock);
  return comm;
}

void rgi_runtime_self_free(void) {
  if (own.made)
    PMPI_Comm_free(&own.comm);
  own.made = 0;
}
