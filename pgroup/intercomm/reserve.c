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
#include "formation/spread.h"
#include "intercomm/books.h"
#include "intercomm/drawing.h"
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
  enum { OUTSIDE, ASIDE, ENDED, LEFT } state; /* ASIDE: in the books, but awake */
  int lost;                                   /* ENDED, since all that worked have died */
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
  rgi_books_close();
  reserve.open = 0;
  return RG_SUCCESS;
}

static int begin(rg_group outside, int n) {
  reserve.outside = NULL;
  if (outside)
    RGI_TRY(rg_group_dup(outside, &reserve.outside));
  int aside = rgi_rt.rank >= rgi_rt.size - n;
  reserve.epoch = rgi_rt.epoch;
  reserve.open = 1;
  reserve.lost = 0;
  reserve.state = aside ? ASIDE : OUTSIDE;
  reserve.drawn = nothing;
  rgi_rt.leaving = on_finalize;
  return RG_SUCCESS;
}

static int open_reserve(const char *call, rg_group world, int n, rg_group *outside) {
  rg_group others;
  RGI_TRY(rgi_books_open(call, world, &n));
  if (n < 0 || n >= rgi_rt.size)
    return rgi_error(
        RG_ERR_ARG,
        "%s: %d of %d processes in reserve; at least one has to be left to work: start "
        "more processes, or set RG_RESERVE lower",
        call, n, rgi_rt.size);
  int error = rg_group_create_range(world, 0, rgi_rt.size - n - 1, 1, 0, &others);
  if (!error && n > 0)
    error = begin(others, n);
  if (error || n == 0)
    rgi_books_close();
  if (!error)
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

/* What a letter says. */
typedef struct {
  rgi_members *callers, *drawn, *all; /* all: of the group that results, or NULL */
  uint64_t number;
  rgi_draw_kind kind;
  int tag, apart;
} summons;

static void drop(summons *s) {
  rgi_members_drop(s->callers);
  rgi_members_drop(s->drawn);
  rgi_members_drop(s->all);
}

static int read_letter(const char *call, const int letter[], summons *s) {
  int n = letter[RGI_LETTER_DRAWN];
  const int *packed = letter + RGI_LETTER_HEAD + n;
  *s = (summons){.kind = (rgi_draw_kind)letter[RGI_LETTER_KIND],
                 .tag = letter[RGI_LETTER_TAG],
                 .apart = letter[RGI_LETTER_APART],
                 .number = rgi_number_in(letter + RGI_LETTER_NUMBER)};
  RGI_TRY(rgi_members_unpack(call, packed, &s->callers));
  RGI_TRY(rgi_members_list(call, n, letter + RGI_LETTER_HEAD, &s->drawn));
  if (s->kind == RGI_DRAW_GROW)
    RGI_TRY(rgi_members_concat(call, s->callers, s->drawn, &s->all));
  if (s->kind == RGI_DRAW_REPLACE)
    RGI_TRY(rgi_members_unpack(call, packed + rgi_members_packed(s->callers), &s->all));
  return RG_SUCCESS;
}

/* Nobody will say any more that all have the group. */
static int is_void(const summons *s) {
  int n = rgi_members_count(s->callers), living = 0;
  for (int i = 0; i < n && i < RGI_CONFIRMERS; i++)
    living += !rgi_is_dead(rgi_members_at(s->callers, i));
  return !living || rgi_is_revoked(s->number);
}

/* RG_ERR_REVOKED: somebody died, and the draw came to nothing. */
static int await_confirmation(const char *call, const summons *s) {
  uint64_t context = rgi_confirmation(s->number);
  rgi_wait w;
  rgi_wait_start_patient(&w, call);
  for (;;) {
    uint32_t bell = atomic_load(&rgi_my_bell()->value);
    int there, from, tag, is_off = is_void(s); /* before the look: what was sent is there */
    size_t bytes;
    RGI_TRY(rgi_message_probe(context, RGI_ANY, 0, &there, &from, &tag, &bytes));
    if (there)
      return RG_SUCCESS;
    if (is_off)
      return RG_ERR_REVOKED;
    RGI_TRY(rgi_wait_bell(&w, rgi_my_bell(), bell, rgi_node.count == 1));
  }
}

/* Somebody has died, and nobody has what was to be made: this process was not drawn. */
static int in_vain(const summons *s, int error) {
  rgi_forming_result(s->number, error);
  return error == RG_ERR_PROC_FAILED ? RG_ERR_REVOKED : error;
}

static int join(const char *call, summons *s) {
  const uint64_t births[RGI_BIRTHS] = {s->number};
  if (s->kind == RGI_DRAW_SPAWN)
    return in_vain(s, rgi_spawn_answer(s->drawn, s->callers, s->number, &reserve.drawn));
  int error = s->kind == RGI_DRAW_REPLACE ? await_confirmation(call, s) : RG_SUCCESS;
  if (!error) {
    rgi_members *all = rgi_members_share(s->all);
    error = rgi_forming_end(births, 0, s->apart, all, s->tag, &reserve.drawn.group);
  }
  return rgi_forming_result(s->number, error);
}

static int answer(const char *call, const int letter[]) {
  summons s;
  int error = read_letter(call, letter, &s);
  if (!error)
    error = join(call, &s);
  drop(&s);
  return error;
}

/* Sleeps until there is something to do, or the end. */
static int sleep_well(const char *call) {
  int *letter, error;
  do {
    error = rgi_books_sleep(call, &letter);
    if (error || !letter) {
      reserve.state = ENDED;
      reserve.lost = error == RG_ERR_PROC_FAILED;
      return error;
    }
    error = answer(call, letter);
    free(letter);
    if (error == RG_ERR_REVOKED) /* in vain */
      RGI_TRY(rgi_books_put(call, rgi_rt.rank));
  } while (error == RG_ERR_REVOKED);
  reserve.state = OUTSIDE;
  int come = rgi_books_come(call);
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
    RGI_TRY(rgi_books_put(__func__, rgi_rt.rank));
  if (reserve.state != ENDED) {
    reserve.state = ASIDE;
    RGI_TRY(sleep_well(__func__));
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
