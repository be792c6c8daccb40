/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Fault tolerance begins at the end of MPI_Init, in a job whose processes have guards and whose
 * MPICH is known, and ends with MPI_Finalize, which does without MPI (runtime/finalize.c). */
#include <dlfcn.h>
#include <link.h>
#include <regroup/collectives.h>
#include <regroup/runtime.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/error.h"
#include "formation/failure_scope.h"
#include "formation/group.h"
#include "mpi/fault/fault_comm.h"
#include "mpi/fault/fault_guard.h"
#include "mpi/fault/fault_operation.h"
#include "mpi/fault/fault_self.h"
#include "mpi/fault/fault_spawn.h"
#include "mpi/fault/fault_wait.h"
#include "mpi/fault/fault_watch.h"
#include "mpi/fault/fault_world.h"
#include "mpi/intercept.h"
#include "mpich/mpich.h"
#include "noded/client/guard_client.h"
#include "progress/wait.h"
#include "runtime/finalize.h"
#include "shm/process.h"

#ifndef MPIX_ERR_PROC_FAILED
#error "mpi.h is not MPICH's: this room is not part of the build"
#endif

/* --- the guard -------------------------------------------------------------------------------- */

static const void *object_of(const void *address) {
  Dl_info info;
  return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

static int needs_mpi(const struct link_map *object) {
  const char *names = NULL;
  for (const ElfW(Dyn) *d = object->l_ld; d->d_tag != DT_NULL; d++)
    if (d->d_tag == DT_STRTAB) /* where it is, or how far into the object */
      names = (const char *)(d->d_un.d_ptr < object->l_addr ? object->l_addr + d->d_un.d_ptr
                                                            : d->d_un.d_ptr);
  for (const ElfW(Dyn) *d = object->l_ld; names && d->d_tag != DT_NULL; d++)
    if (d->d_tag == DT_NEEDED && strncmp(names + d->d_un.d_val, "libmpi", strlen("libmpi")) == 0)
      return 1;
  return 0;
}

/* Whether the program has MPI, or another object than this library needs it. A shell that starts
 * such a program, or one without MPI, has not, and ends when it likes. */
static int uses_mpi(const void *program) {
  Dl_info own;
  struct link_map *at = NULL;
  if (object_of(dlsym(RTLD_DEFAULT, "MPI_Init")) == program)
    return 1;
  void *all = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
  if (!all || !dladdr((const void *)needs_mpi, &own) || dlinfo(all, RTLD_DI_LINKMAP, &at))
    return 0;
  while (at && ((const void *)at->l_addr == own.dli_fbase || !needs_mpi(at)))
    at = at->l_next;
  return at != NULL;
}

/* A program that is linked with libregroup survives by that: its copy has these functions, too. */
int rgi_guard_is_unwanted(void) {
  const void *program = object_of((const void *)getauxval(AT_ENTRY));
  if (!uses_mpi(program) || dlsym(RTLD_DEFAULT, "rg_init") ||
      (object_of(dlsym(RTLD_DEFAULT, "ucp_tag_recv_nbx")) == program &&
       object_of(dlsym(RTLD_DEFAULT, "MPI_Finalize")) == program))
    return 1;
  rgi_fault_world_preload();
  return 0;
}

/* --- start ------------------------------------------------------------------------------------ */

static void adopt(MPI_Comm comm, rg_group g) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  if (state)
    g->creation_ids[1] = state->group->context;
}

static int code_of(MPI_Comm comm, int error) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  int code = rgi_fault_wait_code(error), deaths = rgi_process_deaths();
  if (code == MPIX_ERR_PROC_FAILED && rgi_fault_watch_depth > 0)
    rgi_fault_watch_tell(deaths ? rgi_process_death(deaths - 1) : -1);
  if (state && code == MPIX_ERR_PROC_FAILED && rgi_fault_comm_is_revoked(state))
    return MPIX_ERR_REVOKED;
  return rgi_fault_wait_is_ours(code) ? code : 0;
}

/* MPI waits for the dead, and what may still come on it must not come on another one. */
static int keeps(MPI_Comm comm) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  int is_broken = state && (rgi_fault_comm_is_revoked(state) || rgi_fault_comm_failures(state) > 0);
  if (is_broken)
    rgi_fault_comm_forget(state);
  return is_broken;
}

static int keep_broken(MPI_Comm comm) {
  if (!keeps(comm))
    return 0;
  rgi_fault_spawn_forget(comm);
  return 1;
}

static _Thread_local rgi_fault_guard passing;

static void *enter_guard(MPI_Comm comm, int *code) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  int error = state ? rgi_fault_comm_check(state, "MPI") : RG_SUCCESS;
  if (error)
    *code = rgi_intercept_raise(RGI_INTERCEPT_COUNT, comm, error);
  if (error || !state)
    return NULL;
  rgi_fault_guard_begin(&passing, state, state->group);
  return &passing;
}

static int leave_guard(void *entered, int code) {
  rgi_fault_guard *guard = entered;
  MPI_Comm comm = guard->state->comm;
  int error = rgi_fault_guard_end(guard, code, "MPI");
  PMPI_Errhandler_free(&guard->handler);
  if (error == RG_ERR_MPI)
    PMPI_Comm_call_errhandler(comm, code);
  return error && error != RG_ERR_MPI ? rgi_intercept_raise(RGI_INTERCEPT_COUNT, comm, error)
                                      : code;
}

static int check_revoked(MPI_Comm comm, const char *call) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  return state && rgi_fault_comm_is_revoked(state) ? rgi_fault_comm_check(state, call) : RG_SUCCESS;
}

/* Deaths among the members the creation finds itself. */
static int begin_create_group(MPI_Comm comm) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  rgi_failure_scope_within = state ? state->group->context : 0;
  return check_revoked(comm, "MPI_Comm_create_group");
}

static int starts(MPI_Comm comm, MPI_Request *request, int *code) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  rgi_fault_request noted = {0};
  if (state)
    noted = rgi_fault_wait_collective(state);
  if (noted.error)
    *code = rgi_fault_request_stand_in(&noted, request);
  return noted.error != RG_SUCCESS;
}

static void note_started(MPI_Comm comm, MPI_Request request) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  const rgi_fault_request noted = {
      .state = state, .kind = RGI_FAULT_COLLECTIVE, .peer = MPI_PROC_NULL};
  if (state)
    rgi_fault_request_note(request, &noted);
}

static void watch_window(const rgi_members *members, const char *call) {
  static _Thread_local rgi_fault_watch watch;
  if (members)
    rgi_fault_watch_begin(&watch, members, call);
  else
    rgi_fault_watch_end(&watch);
}

static void (*other_work)(void); /* in waits of the library */

static void work_meanwhile(void) {
  rgi_fault_wait_drain();
  rgi_fault_operation_progress();
  if (other_work)
    other_work();
}

/* No process goes on before all can survive a death. */
static int begin_to_tolerate(void) {
  rg_group world = NULL;
  if (!rgi_guard_exists() || !rgi_mpich_gives()->can_interrupt)
    return RG_SUCCESS;
  rgi_fault_comm_on = 1;
  int error = rgi_fault_comm_open();
  if (!error)
    error = rg_group_world(&world);
  if (!error)
    error = rg_barrier(world);
  if (world)
    rg_group_free(&world);
  other_work = rgi_wait_meanwhile;
  rgi_wait_meanwhile = work_meanwhile;
  rgi_mpich_interrupt_tolerate();
  rgi_intercept_fault.adopt = adopt;
  rgi_intercept_fault.creates = begin_create_group;
  rgi_intercept_fault.made = rgi_fault_comm_attach_own;
  rgi_intercept_fault.code = code_of;
  rgi_intercept_fault.enter = enter_guard;
  rgi_intercept_fault.leave = leave_guard;
  rgi_intercept_counting |= RGI_INTERCEPT_CHECKS;
  rgi_intercept_fault.check = check_revoked;
  rgi_intercept_fault.starts = starts;
  rgi_intercept_fault.started = note_started;
  rgi_intercept_fault.watch = watch_window;
  rgi_intercept_fault.keeps = keep_broken;
  rgi_intercept_fault.part = rgi_fault_spawn_begin;
  return error;
}

__attribute__((constructor)) static void offer(void) {
  rgi_intercept_fault.begin = begin_to_tolerate;
}

/* --- end -------------------------------------------------------------------------------------- */

static int finalize(void) {
  rgi_fault_self_delete();
  rgi_fault_spawn_end();
  rgi_process_check_now();
  rgi_intercept_end_service(rgi_process_deaths() == 0);
  memset(&rgi_intercept_fault, 0, sizeof rgi_intercept_fault);
  /* Others may still wait until what they have sent on a revoked communicator is received. */
  int error = rg_finalize();
  rgi_fault_comm_on = 0;
  rgi_wait_meanwhile = NULL;
  return error                       ? rgi_intercept_code(error)
         : rgi_mpich_finalize_told() ? MPI_SUCCESS
                                     : MPI_ERR_OTHER;
}

RG_API int MPI_Finalize(void) {
  return rgi_fault_comm_on ? finalize() : RGI_INTERCEPT_NEXT(MPI_Finalize)();
}

RG_API int PMPI_Finalize(void) {
  return rgi_fault_comm_on ? finalize() : RGI_INTERCEPT_NEXT(PMPI_Finalize)();
}

RG_API int MPI_Finalized(int *flag) {
  if (!rgi_mpich_has_finalized())
    return RGI_INTERCEPT_NEXT(MPI_Finalized)(flag);
  *flag = 1;
  return MPI_SUCCESS;
}
