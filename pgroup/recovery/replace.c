/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Replacing the dead by processes in reserve. The survivors shrink the group, draw, and
 * agree on whether all of them have the new group; if not, since more have died, they do it
 * again. Those that were drawn wait for the word that it is so; else they go back to
 * sleep, and nobody else has noticed. */
#include <regroup/recovery.h>

#include "base/error.h"
#include "formation/group.h"
#include "intercomm/reserve.h"
#include "noded/mesh.h"
#include "shm/failure.h"

/* What is to be agreed about: the bitwise and of these. */
enum { HAVE_IT = 1, NOT_BY_DEATH = 2 };

typedef struct {
  const char *call;
  rg_group g, team; /* team: those of g that live */
  uint64_t number;
  rgi_members *drawn;
  rg_group made;
} attempt;

static int draw(attempt *a) {
  const uint64_t births[RGI_BIRTHS] = {a->number};
  const rgi_members *before = a->g->members, *team = a->team->members;
  const rgi_draft d = {.kind = RGI_DRAW_REPLACE,
                       .n = rgi_members_count(before) - rgi_members_count(team),
                       .number = a->number,
                       .apart = 1,
                       .before = before};
  rgi_members *all;
  RGI_TRY(rgi_draw(a->call, a->team, &d, &a->drawn));
  RGI_TRY(rgi_draw_replaced(a->call, before, team, a->drawn, &all));
  return rgi_forming_end(births, 0, d.apart, all, a->g->tag, &a->made);
}

/* All have the group, or none has it: then *again says whether more have died. */
static int settle(attempt *a, int error, int *again) {
  int by_death = error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED, failed = 0;
  unsigned word = (error ? 0 : HAVE_IT) | (by_death ? 0 : NOT_BY_DEATH);
  RGI_TRY(rg_group_agree(a->team, &word, &failed));
  if (!failed && word & HAVE_IT)
    return rgi_draw_confirm(a->call, a->team, a->number, a->drawn);
  *again = failed || !(word & NOT_BY_DEATH);
  return error ? error : rgi_error(RG_ERR_NOMEM, "%s: another member failed", a->call);
}

static int try_once(attempt *a, int *again) {
  RGI_TRY(rgi_forming_begin(a->team, a->team->tag, &a->number));
  RGI_TRY(rgi_group_check_member(a->call, a->team)); /* whose deaths end the waits */
  int error = settle(a, draw(a), again);
  if (error) {
    rgi_mesh_revoke(a->number); /* for those who were drawn, and in vain */
    rg_group_free(&a->made);
  }
  rgi_members_drop(a->drawn);
  a->drawn = NULL;
  return error;
}

/* *team: those of its members that live. */
static int shrink(rg_group *team) {
  rg_group next;
  RGI_TRY(rg_group_shrink(*team, &next));
  rg_group_free(team);
  *team = next;
  return RG_SUCCESS;
}

int rg_group_replace(rg_group g, rg_group *restored) {
  attempt a = {.call = __func__, .g = g};
  int error, again;
  RGI_REQUIRE(restored);
  RGI_TRY(rgi_group_check(__func__, g));
  RGI_TRY(rgi_reserve_need(__func__));
  RGI_TRY(rg_group_shrink(g, &a.team));
  do {
    again = 0;
    if (rgi_members_count(a.team->members) == rgi_members_count(g->members)) {
      *restored = a.team; /* nobody is missing */
      return RG_SUCCESS;
    }
    error = try_once(&a, &again);
    if (again)
      error = shrink(&a.team);
  } while (again && !error);
  rg_group_free(&a.team);
  if (!error)
    *restored = a.made;
  return error;
}
