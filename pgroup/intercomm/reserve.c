/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The reserve as one process sees it. */
#include "intercomm/reserve.h"

#include <regroup/comm.h>
#include <regroup/runtime.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/options.h"
#include "formation/group.h"
#include "formation/group_tree.h"
#include "intercomm/reserve_directory.h"
#include "intercomm/reserve_message.h"
#include "intercomm/spawn.h"
#include "message/message.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"
#include "shm/revocation.h"

static const rg_drawn nothing = {NULL, MPI_COMM_NULL, MPI_COMM_NULL};

static struct {
  unsigned long epoch; /* the start of the library that it belongs to */
  int open;
  enum { OUTSIDE, ASIDE, ENDED, LEFT } state; /* ASIDE: in reserve, but awake */
  int lost;                                   /* ENDED, since all that worked have died */
  rg_group outside;                           /* who was left outside at the start, for those */
  rg_drawn drawn;
} reserve;

int rgi_reserve_is_open(void) {
  return rgi_runtime.started && reserve.open && reserve.epoch == rgi_runtime.epoch;
}

int rgi_reserve_need(const char *call) {
  RGI_TRY(rgi_runtime_check(call));
  rgi_failure_scope_now = (rgi_failure_scope){0};
  if (rgi_reserve_is_open())
    return RG_SUCCESS;
  return rgi_error(RG_ERR_UNSUPPORTED,
                   "%s: no processes are in reserve: start the job with n more processes and "
                   "RG_RESERVE=n (mpiexec -n 8 -genv RG_RESERVE 3 ...), and call rg_reserve_open",
                   call);
}

/* --- opening and the end ------------------------------------------------------- */

static void forget_drawn(void) {
  if (reserve.drawn.world != MPI_COMM_NULL)
    MPI_Comm_free(&reserve.drawn.world);
  reserve.drawn = nothing;
}

static int leave_reserve(const char *call) {
  if (reserve.state == ASIDE)
    return rgi_error(RG_ERR_RESERVE,
                     "%s: this process is in the reserve and may be drawn: call rg_reserve_park, "
                     "which returns when the reserve ends",
                     call);
  if (reserve.state == OUTSIDE)
    RGI_TRY(rgi_reserve_directory_leave(call));
  reserve.state = LEFT;
  return RG_SUCCESS;
}

/* When the library stops. */
static int on_finalize(void) {
  if (!rgi_reserve_is_open())
    return RG_SUCCESS;
  RGI_TRY(leave_reserve("rg_finalize"));
  forget_drawn();
  rg_group_free(&reserve.outside);
  rgi_reserve_directory_close();
  reserve.open = 0;
  return RG_SUCCESS;
}

static int begin_reserve(rg_group outside, int n) {
  reserve.outside = NULL;
  if (outside)
    RGI_TRY(rg_group_dup(outside, &reserve.outside));
  int aside = rgi_runtime.rank >= rgi_runtime.size - n;
  reserve.epoch = rgi_runtime.epoch;
  reserve.open = 1;
  reserve.lost = 0;
  reserve.state = aside ? ASIDE : OUTSIDE;
  reserve.drawn = nothing;
  rgi_runtime.before_finalize = on_finalize;
  return RG_SUCCESS;
}

static int open_reserve(const char *call, rg_group world, int n, rg_group *outside) {
  rg_group others;
  RGI_TRY(rgi_reserve_directory_open(call, world, &n));
  if (n < 0 || n >= rgi_runtime.size)
    return rgi_error(
        RG_ERR_ARG,
        "%s: %d of %d processes in reserve; at least one has to be left to work: start "
        "more processes, or set RG_RESERVE lower",
        call, n, rgi_runtime.size);
  int error = rg_group_create_range(world, 0, rgi_runtime.size - n - 1, 1, 0, &others);
  if (!error && n > 0)
    error = begin_reserve(others, n);
  if (error || n == 0)
    rgi_reserve_directory_close();
  if (!error)
    *outside = others;
  return error;
}

int rg_reserve_open(int n, rg_group *outside) {
  rg_group world;
  RGI_REQUIRE(outside);
  RGI_TRY(rgi_runtime_check(__func__));
  rgi_failure_scope_now = (rgi_failure_scope){0};
  if (rgi_reserve_is_open())
    return rgi_error(RG_ERR_INIT, "%s: the reserve is open already", __func__);
  RGI_TRY(rg_group_world(&world));
  if (n == RG_RESERVE_OPTION)
    n = rgi_options_choice(RGI_OPT_RESERVE);
  else if (n < 0)
    n = RG_RESERVE_OPTION;
  int error = open_reserve(__func__, world, n, outside);
  rg_group_free(&world);
  return error;
}

int rg_reserve_leave(void) {
  RGI_TRY(rgi_reserve_need(__func__));
  return leave_reserve(__func__);
}

int rg_reserve_count(int *sleeping) {
  RGI_REQUIRE(sleeping);
  RGI_TRY(rgi_reserve_need(__func__));
  return rgi_reserve_directory_count(__func__, sleeping);
}

/* --- sleeping and being drawn ---------------------------------------------------- */

/* What a message says. */
typedef struct {
  rgi_members *callers, *drawn, *all; /* all: of the group that results, or NULL */
  uint64_t number;
  rgi_reserve_purpose kind;
  int tag, diverged;
} acquisition;

static void drop_acquisition(acquisition *s) {
  rgi_members_drop(s->callers);
  rgi_members_drop(s->drawn);
  rgi_members_drop(s->all);
}

static int read_message(const char *call, const int message[], acquisition *s) {
  int n = message[RGI_RESERVE_MESSAGE_ACQUIRED];
  const int *packed = message + RGI_RESERVE_MESSAGE_HEAD + n;
  *s = (acquisition){.kind = (rgi_reserve_purpose)message[RGI_RESERVE_MESSAGE_KIND],
                     .tag = message[RGI_RESERVE_MESSAGE_TAG],
                     .diverged = message[RGI_RESERVE_MESSAGE_DIVERGED],
                     .number = rgi_group_tree_get_uint64(message + RGI_RESERVE_MESSAGE_NUMBER)};
  RGI_TRY(rgi_members_unpack(call, packed, &s->callers));
  RGI_TRY(rgi_members_list(call, n, message + RGI_RESERVE_MESSAGE_HEAD, &s->drawn));
  if (s->kind == RGI_RESERVE_GROW)
    RGI_TRY(rgi_members_concat(call, s->callers, s->drawn, &s->all));
  if (s->kind == RGI_RESERVE_REPLACE)
    RGI_TRY(rgi_members_unpack(call, packed + rgi_members_packed(s->callers), &s->all));
  return RG_SUCCESS;
}

/* Nobody will say any more that all have the group. */
static int is_cancelled(const acquisition *s) {
  int n = rgi_members_count(s->callers), living = 0;
  for (int i = 0; i < n && i < RGI_RESERVE_MESSAGE_CONFIRMERS; i++)
    living += !rgi_process_is_dead(rgi_members_at(s->callers, i));
  return !living || rgi_revocation_has(s->number);
}

/* RG_ERR_REVOKED: somebody died, and the draw came to nothing. */
static int await_confirmation(const char *call, const acquisition *s) {
  uint64_t context = rgi_reserve_message_confirm_context(s->number);
  rgi_wait w;
  rgi_wait_start_patient(&w, call);
  for (;;) {
    uint32_t bell = atomic_load(&rgi_node_bell()->value);
    int there, from, tag, is_off = is_cancelled(s); /* before the look: what was sent is there */
    size_t bytes;
    RGI_TRY(rgi_message_probe(context, RGI_ANY, 0, &there, &from, &tag, &bytes));
    if (there)
      return RG_SUCCESS;
    if (is_off)
      return RG_ERR_REVOKED;
    RGI_TRY(rgi_wait_bell(&w, rgi_node_bell(), bell, rgi_node.count == 1));
  }
}

/* Somebody has died, and nobody has what was to be made: this process was not drawn. */
static int end_in_vain(const acquisition *s, int error) {
  rgi_group_creation_result(s->number, error);
  return error == RG_ERR_PROC_FAILED ? RG_ERR_REVOKED : error;
}

static int join_callers(const char *call, acquisition *s) {
  const uint64_t creation_ids[RGI_CREATION_IDS] = {s->number};
  if (s->kind == RGI_RESERVE_SPAWN)
    return end_in_vain(s, rgi_spawn_join(s->drawn, s->callers, s->number, &reserve.drawn));
  int error = s->kind == RGI_RESERVE_REPLACE ? await_confirmation(call, s) : RG_SUCCESS;
  if (!error) {
    rgi_members *all = rgi_members_share(s->all);
    error = rgi_group_creation_end(creation_ids, 0, s->diverged, all, s->tag, &reserve.drawn.group);
  }
  return rgi_group_creation_result(s->number, error);
}

static int answer_message(const char *call, const int message[]) {
  acquisition s;
  int error = read_message(call, message, &s);
  if (!error)
    error = join_callers(call, &s);
  drop_acquisition(&s);
  return error;
}

/* Sleeps until there is something to do, or the end. */
static int sleep_until_acquired(const char *call) {
  int *message, error;
  do {
    error = rgi_reserve_directory_sleep(call, &message);
    if (error || !message) {
      reserve.state = ENDED;
      reserve.lost = error == RG_ERR_PROC_FAILED;
      return error;
    }
    error = answer_message(call, message);
    free(message);
    if (error == RG_ERR_REVOKED) /* in vain */
      RGI_TRY(rgi_reserve_directory_release(call, rgi_runtime.rank));
  } while (error == RG_ERR_REVOKED);
  reserve.state = OUTSIDE;
  int come = rgi_reserve_directory_join(call);
  return error ? error : come;
}

int rg_reserve_park(rg_drawn *drawn) {
  RGI_REQUIRE(drawn);
  RGI_TRY(rgi_reserve_need(__func__));
  if (reserve.state == LEFT)
    return rgi_error(RG_ERR_RESERVE, "%s: this process has left the reserve for good", __func__);
  forget_drawn();
  if (reserve.state == ENDED && reserve.lost)
    return rgi_error(RG_ERR_PROC_FAILED, "%s: all processes outside the reserve have died",
                     __func__);
  if (reserve.state == OUTSIDE)
    RGI_TRY(rgi_reserve_directory_release(__func__, rgi_runtime.rank));
  if (reserve.state != ENDED) {
    reserve.state = ASIDE;
    RGI_TRY(sleep_until_acquired(__func__));
  }
  *drawn = reserve.drawn;
  return RG_SUCCESS;
}

int rgi_reserve_enter(MPI_Comm *world, MPI_Comm *parent) {
  rg_drawn drawn = reserve.drawn;
  if (reserve.state == ASIDE)
    RGI_TRY(rg_reserve_park(&drawn));
  if (drawn.world == MPI_COMM_NULL && reserve.outside)
    return rg_group_comm(reserve.outside, world);
  *world = drawn.world;
  *parent = drawn.parent;
  reserve.drawn.parent = MPI_COMM_NULL;
  return RG_SUCCESS;
}

int rg_reserve_drawn(rg_drawn *drawn) {
  RGI_REQUIRE(drawn);
  RGI_TRY(rgi_reserve_need(__func__));
  *drawn = reserve.drawn;
  return RG_SUCCESS;
}
