/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Replacing dead members by processes in reserve. The survivors shrink the group, acquire
 * processes, and agree on whether all of them have the new group. If not, because more members
 * have died, they try again. Acquired processes wait until the survivors confirm the group; an
 * attempt that fails is revoked, and they return to the reserve. */
#include <regroup/recovery.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "collectives/group/coll_of_group.h"
#include "formation/group.h"
#include "intercomm/reserve.h"
#include "intercomm/reserve_acquire.h"
#include "intercomm/reserve_confirm.h"
#include "noded/client/overlay_client.h"
#include "shm/failure.h"

/* The word of the agreement, bit by bit: true on all survivors. */
enum { HAVE_IT = 1, NOT_BY_DEATH = 2 };

typedef struct {
  const char *call;
  rg_group g, survivors; /* survivors: the living members of g */
  uint64_t number;
  rgi_members *acquired;
  rg_group made;
} attempt;

static int acquire_members(attempt *a) {
  const uint64_t creation_ids[RGI_CREATION_IDS] = {a->number};
  const rgi_members *before = a->g->members, *survivors = a->survivors->members;
  const rgi_reserve_request d = {.kind = RGI_RESERVE_REPLACE,
                                 .n = rgi_members_count(before) - rgi_members_count(survivors),
                                 .number = a->number,
                                 .diverged = 1,
                                 .before = before};
  rgi_members *all;
  RGI_TRY(rgi_reserve_acquire(a->call, a->survivors, &d, &a->acquired));
  RGI_TRY(rgi_reserve_substitute(a->call, before, survivors, a->acquired, &all));
  RGI_TRY(rgi_group_creation_end(creation_ids, 0, d.diverged, all, a->g->tag, &a->made));
  rgi_coll_attach_surviving(a->call, a->made);
  return RG_SUCCESS;
}

/* Either all survivors have the group, or none has it; *again: since more members have died. */
static int settle_attempt(attempt *a, int error, int *again) {
  int by_death = error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED, failed = 0;
  unsigned word = (error ? 0 : HAVE_IT) | (by_death ? 0 : NOT_BY_DEATH);
  RGI_TRY(rg_group_agree(a->survivors, &word, &failed));
  if (!failed && word & HAVE_IT)
    return rgi_reserve_confirm(a->call, a->survivors, a->number, a->acquired);
  *again = failed || !(word & NOT_BY_DEATH);
  return *again ? RG_ERR_PROC_FAILED : rgi_group_error_share(a->survivors, a->call, error);
}

static int attempt_once(attempt *a, int *again) {
  RGI_TRY(rgi_group_creation_begin(a->survivors, a->survivors->tag, &a->number));
  RGI_TRY(rgi_group_check_member(a->call, a->survivors)); /* sets the failure scope of the waits */
  int error = settle_attempt(a, acquire_members(a), again);
  if (error) {
    rgi_overlay_revoke(a->number); /* ends the wait of the acquired processes */
    rg_group_free(&a->made);
  }
  rgi_members_drop(a->acquired);
  a->acquired = NULL;
  return error;
}

/* Messages inside a node take memory that is set aside, if the arena is full. */
static int try_once(attempt *a, int *again) {
  rgi_arena_purpose before = rgi_arena_set_purpose(RGI_ARENA_DECISION);
  int error = attempt_once(a, again);
  rgi_arena_set_purpose(before);
  return error;
}

/* Replaces *survivors by a group of its living members. */
static int shrink_survivors(rg_group *survivors) {
  rg_group next;
  RGI_TRY(rg_group_shrink(*survivors, &next));
  rg_group_free(survivors);
  *survivors = next;
  return RG_SUCCESS;
}

int rg_group_replace(rg_group g, rg_group *restored) {
  attempt a = {.call = __func__, .g = g};
  int error, again;
  RGI_REQUIRE(restored);
  RGI_TRY(rgi_group_check(__func__, g));
  RGI_TRY(rgi_reserve_need(__func__));
  RGI_TRY(rg_group_shrink(g, &a.survivors));
  do {
    again = 0;
    if (rgi_members_count(a.survivors->members) == rgi_members_count(g->members)) {
      *restored = a.survivors; /* no member is missing */
      return RG_SUCCESS;
    }
    error = try_once(&a, &again);
    if (again)
      error = shrink_survivors(&a.survivors);
  } while (again && !error);
  rg_group_free(&a.survivors);
  if (!error)
    *restored = a.made;
  return error;
}
