/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The reserve as one process sees it: rg_reserve_open, rg_reserve_park, rg_reserve_leave.
 *
 * The process is OUTSIDE (it works, and may acquire others), ASIDE (in reserve, but it
 * has not called rg_reserve_park yet), or past both: the reserve has ENDED, or the process has
 * LEFT. rg_reserve_park sleeps in the reserve's directory until a message comes that the
 * process has been acquired, joins what the message is about, and is OUTSIDE then. If the
 * operation failed after a death, the process gives itself back and sleeps again. */
#include "intercomm/reserve.h"

#include <regroup/comm.h>
#include <regroup/runtime.h>

#include "base/error.h"
#include "base/options.h"
#include "base/sized.h"
#include "base/spare.h"
#include "formation/group.h"
#include "intercomm/inter_members.h"
#include "intercomm/reserve_directory.h"
#include "intercomm/reserve_message.h"
#include "runtime/runtime.h"
#include "shm/failure.h"

static const rg_acquisition none_drawn = {
    .size = sizeof none_drawn, .world = MPI_COMM_NULL, .parent = MPI_COMM_NULL};

static struct {
  unsigned long epoch; /* the start of the library that it belongs to */
  int open;
  enum { OUTSIDE, ASIDE, ENDED, LEFT } state;
  int lost;         /* ENDED, since all processes that worked have died */
  rg_group outside; /* on the processes that were outside at the start: all of them */
  rg_acquisition drawn;
  uint64_t number; /* of the operation that it was acquired for */
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

uint64_t rgi_reserve_number(void) {
  return reserve.number;
}

/* --- opening and the end ------------------------------------------------------- */

static void forget_drawn(void) {
  if (reserve.drawn.world != MPI_COMM_NULL)
    MPI_Comm_free(&reserve.drawn.world);
  reserve.drawn = none_drawn;
}

static int leave_reserve(const char *call) {
  if (reserve.state == ASIDE)
    return rgi_error(
        RG_ERR_RESERVE,
        "%s: this process is in the reserve and may be acquired: call rg_reserve_park, "
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
  reserve.drawn = none_drawn;
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

/* --- sleeping and being acquired ------------------------------------------------- */

/* RG_ERR_REVOKED if a process died: then no process has the communicators, and this one was not
 * acquired. */
static int end_spawning(uint64_t number, int error) {
  rgi_group_creation_result(number, error);
  return error == RG_ERR_PROC_FAILED ? RG_ERR_REVOKED : error;
}

/* RG_ERR_REVOKED: a process died, and the operation failed. */
static int join_callers(const char *call, const rgi_reserve_message *message) {
  const uint64_t creation_ids[RGI_CREATION_IDS] = {message->number};
  if (message->kind == RGI_RESERVE_SPAWN)
    return end_spawning(message->number,
                        rgi_inter_members_join(message->acquired, message->callers, message->number,
                                               &reserve.drawn.world, &reserve.drawn.parent));
  int error = message->kind == RGI_RESERVE_REPLACE
                  ? rgi_reserve_confirm_await(call, message->callers, message->number)
                  : RG_SUCCESS;
  if (!error) {
    rgi_members *all = rgi_members_share(message->all);
    error = rgi_group_creation_end(creation_ids, 0, message->diverged, all, message->tag,
                                   &reserve.drawn.group);
  }
  return rgi_group_creation_result(message->number, error);
}

static int answer_message(const char *call, const int ints[]) {
  rgi_reserve_message message;
  int error = rgi_reserve_message_unpack(call, ints, &message);
  reserve.number = error ? 0 : message.number;
  if (!error)
    error = join_callers(call, &message);
  rgi_reserve_message_drop(&message);
  return error;
}

/* Returns with what the process was acquired for, or at the reserve's end. */
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
    rgi_spare_free(message);
    if (error == RG_ERR_REVOKED)
      RGI_TRY(rgi_reserve_directory_release(call, rgi_runtime.rank));
  } while (error == RG_ERR_REVOKED);
  reserve.state = OUTSIDE;
  int joined = rgi_reserve_directory_join(call);
  return error ? error : joined;
}

int rg_reserve_park(rg_acquisition *drawn) {
  RGI_TRY(rgi_sized_check(drawn, "rg_reserve_park: drawn"));
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
  return rgi_sized_give(drawn, &reserve.drawn, sizeof reserve.drawn, "rg_reserve_park: drawn");
}

int rgi_reserve_enter(MPI_Comm *world, MPI_Comm *parent) {
  rg_acquisition drawn = reserve.drawn;
  if (reserve.state == ASIDE)
    RGI_TRY(rg_reserve_park(&drawn));
  if (drawn.world == MPI_COMM_NULL && reserve.outside)
    return rg_group_comm(reserve.outside, world);
  *world = drawn.world;
  *parent = drawn.parent;
  reserve.drawn.parent = MPI_COMM_NULL;
  return RG_SUCCESS;
}

int rg_reserve_acquisition(rg_acquisition *drawn) {
  RGI_REQUIRE(drawn);
  RGI_TRY(rgi_reserve_need(__func__));
  return rgi_sized_give(drawn, &reserve.drawn, sizeof reserve.drawn,
                        "rg_reserve_acquisition: drawn");
}
