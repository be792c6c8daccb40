/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The reserve as one process sees it. */
#include "intercomm/reserve.h"

#include <regroup/comm.h>
#include <regroup/runtime.h>
#include <stdlib.h>

#include "formation/group.h"
#include "formation/spread.h"
#include "intercomm/books.h"
#include "intercomm/drawing.h"
#include "intercomm/spawn.h"
#include "runtime/error.h"
#include "runtime/liveness.h"
#include "runtime/options.h"
#include "runtime/runtime.h"

static const rg_drawn nothing = {NULL, MPI_COMM_NULL, MPI_COMM_NULL};

static struct {
  unsigned long epoch; /* the start of the library that it belongs to */
  int open;
  enum { OUTSIDE, ASIDE, ENDED, LEFT } state; /* ASIDE: in the books, but awake */
  rg_group outside;                           /* who was left outside at the start, for those */
  rg_drawn drawn;
} reserve;

int rgi_reserve_is_open(void) {
  return rgi_rt.started && reserve.open && reserve.epoch == rgi_rt.epoch;
}

int rgi_reserve_need(const char *call) {
  RGI_TRY(rgi_need_runtime(call));
  rgi_scope_now = (rgi_scope){0};
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

static int leave(const char *call) {
  if (reserve.state == ASIDE)
    return rgi_error(RG_ERR_RESERVE,
                     "%s: this process is in the reserve and may be drawn: call rg_reserve_park, "
                     "which returns when the reserve ends",
                     call);
  if (reserve.state == OUTSIDE)
    RGI_TRY(rgi_books_leave(call));
  reserve.state = LEFT;
  return RG_SUCCESS;
}

/* When the library stops. */
static int on_finalize(void) {
  if (!rgi_reserve_is_open())
    return RG_SUCCESS;
  RGI_TRY(leave("rg_finalize"));
  forget_drawn();
  rg_group_free(&reserve.outside);
  reserve.open = 0;
  return RG_SUCCESS;
}

/* The first process's n, for all. */
static int agree_on_n(const char *call, rg_group world, int *n) {
  int count = 1, *told = n;
  RGI_TRY(rgi_spread(world, 0, call, &count, &told));
  *n = told[0];
  if (told != n)
    free(told);
  return RG_SUCCESS;
}

static int open_books(const char *call, int n, rg_group outside) {
  RGI_TRY(rgi_books_open(call, n));
  reserve.outside = NULL;
  if (outside)
    RGI_TRY(rg_group_dup(outside, &reserve.outside));
  int aside = rgi_rt.rank >= rgi_rt.size - n;
  reserve.epoch = rgi_rt.epoch;
  reserve.open = 1;
  reserve.state = aside ? ASIDE : OUTSIDE;
  reserve.drawn = nothing;
  rgi_rt.leaving = on_finalize;
  return RG_SUCCESS;
}

static int open_reserve(const char *call, rg_group world, int n, rg_group *outside) {
  RGI_TRY(agree_on_n(call, world, &n));
  if (n < 0 || n >= rgi_rt.size)
    return rgi_error(
        RG_ERR_ARG,
        "%s: %d of %d processes in reserve; at least one has to be left to work: start "
        "more processes, or set RG_RESERVE lower",
        call, n, rgi_rt.size);
  rg_group others;
  RGI_TRY(rg_group_create_range(world, 0, rgi_rt.size - n - 1, 1, 0, &others));
  int error = n > 0 ? open_books(call, n, others) : RG_SUCCESS;
  if (error)
    rg_group_free(&others);
  else
    *outside = others;
  return error;
}

int rg_reserve_open(int n, rg_group *outside) {
  rg_group world;
  RGI_REQUIRE(outside);
  RGI_TRY(rgi_need_runtime(__func__));
  rgi_scope_now = (rgi_scope){0};
  if (rgi_reserve_is_open())
    return rgi_error(RG_ERR_INIT, "%s: the reserve is open already", __func__);
  RGI_TRY(rg_group_world(&world));
  if (n == RG_RESERVE_OPTION)
    n = rgi_option_choice(RGI_OPT_RESERVE);
  else if (n < 0)
    n = RG_RESERVE_OPTION;
  int error = open_reserve(__func__, world, n, outside);
  rg_group_free(&world);
  return error;
}

int rg_reserve_leave(void) {
  RGI_TRY(rgi_reserve_need(__func__));
  return leave(__func__);
}

int rg_reserve_count(int *sleeping) {
  RGI_REQUIRE(sleeping);
  RGI_TRY(rgi_reserve_need(__func__));
  return rgi_books_count(__func__, sleeping);
}

/* --- sleeping and being drawn ---------------------------------------------------- */

static int answer(const char *call, const int letter[]) {
  rgi_members *callers, *drawn, *all;
  int n = letter[RGI_LETTER_DRAWN];
  RGI_TRY(rgi_members_unpack(call, letter + RGI_LETTER_HEAD + n, &callers));
  int error = rgi_members_list(call, n, letter + RGI_LETTER_HEAD, &drawn);
  if (!error && letter[RGI_LETTER_KIND] == RGI_DRAW_SPAWN) {
    error = rgi_spawn_answer(drawn, callers, &reserve.drawn);
  } else if (!error) {
    error = rgi_members_concat(call, callers, drawn, &all);
    if (!error)
      error = rgi_group_new(all, RGI_FORMED, letter[RGI_LETTER_TAG], &reserve.drawn.group);
  }
  rgi_members_drop(callers);
  if (!error)
    rgi_members_drop(drawn);
  return error;
}

int rg_reserve_park(rg_drawn *drawn) {
  int *letter, error = RG_SUCCESS;
  RGI_REQUIRE(drawn);
  RGI_TRY(rgi_reserve_need(__func__));
  if (reserve.state == LEFT)
    return rgi_error(RG_ERR_RESERVE, "%s: this process has left the reserve for good", __func__);
  forget_drawn();
  if (reserve.state == OUTSIDE)
    RGI_TRY(rgi_books_put(__func__, rgi_rt.rank));
  if (reserve.state != ENDED) {
    reserve.state = ASIDE;
    RGI_TRY(rgi_books_sleep(__func__, &letter));
    reserve.state = letter ? OUTSIDE : ENDED;
    error = letter ? answer(__func__, letter) : RG_SUCCESS;
    free(letter);
  }
  if (!error)
    *drawn = reserve.drawn;
  return error;
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
