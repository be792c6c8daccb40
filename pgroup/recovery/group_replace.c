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
} replace_attempt;

static int acquire_members(replace_attempt *attempt) {
  const uint64_t creation_ids[RGI_CREATION_IDS] = {attempt->number};
  const rgi_members *before = attempt->g->members, *survivors = attempt->survivors->members;
  const rgi_reserve_request request = {.kind = RGI_RESERVE_REPLACE,
                                       .n =
                                           rgi_members_count(before) - rgi_members_count(survivors),
                                       .number = attempt->number,
                                       .diverged = 1,
                                       .before = before};
  rgi_members *all;
  RGI_TRY(rgi_reserve_acquire(attempt->call, attempt->survivors, &request, &attempt->acquired));
  RGI_TRY(rgi_reserve_substitute(attempt->call, before, survivors, attempt->acquired, &all));
  RGI_TRY(rgi_group_creation_end(creation_ids, 0, request.diverged, all, attempt->g->tag,
                                 &attempt->made));
  rgi_coll_attach_surviving(attempt->call, attempt->made);
  return RG_SUCCESS;
}

/* Either all survivors have the group, or none has it; *again: since more members have died. */
static int settle_attempt(replace_attempt *attempt, int error, int *again) {
  int by_death = error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED, failed = 0;
  unsigned word = (error ? 0 : HAVE_IT) | (by_death ? 0 : NOT_BY_DEATH);
  RGI_TRY(rg_group_agree(attempt->survivors, &word, &failed));
  if (!failed && word & HAVE_IT)
    return rgi_reserve_confirm(attempt->call, attempt->survivors, attempt->number,
                               attempt->acquired);
  *again = failed || !(word & NOT_BY_DEATH);
  return *again ? RG_ERR_PROC_FAILED
                : rgi_group_error_share(attempt->survivors, attempt->call, error);
}

static int attempt_once(replace_attempt *attempt, int *again) {
  attempt->number = rgi_group_creation_begin(attempt->survivors);
  RGI_TRY(rgi_group_check_member(attempt->call,
                                 attempt->survivors)); /* sets the failure scope of the waits */
  int error = settle_attempt(attempt, acquire_members(attempt), again);
  if (error) {
    rgi_overlay_revoke(attempt->number); /* ends the wait of the acquired processes */
    rg_group_free(&attempt->made);
  }
  rgi_members_drop(attempt->acquired);
  attempt->acquired = NULL;
  return error;
}

/* Messages inside a node take memory that is set aside, if the arena is full. */
static int try_once(replace_attempt *attempt, int *again) {
  rgi_arena_purpose before = rgi_arena_set_purpose(RGI_ARENA_DECISION);
  int error = attempt_once(attempt, again);
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
  replace_attempt attempt = {.call = __func__, .g = g};
  int error, again;
  RGI_REQUIRE(restored);
  RGI_TRY(rgi_group_check(__func__, g));
  RGI_TRY(rgi_reserve_need(__func__));
  RGI_TRY(rg_group_shrink(g, &attempt.survivors));
  do {
    again = 0;
    if (rgi_members_count(attempt.survivors->members) == rgi_members_count(g->members)) {
      *restored = attempt.survivors; /* no member is missing */
      return RG_SUCCESS;
    }
    error = try_once(&attempt, &again);
    if (again)
      error = shrink_survivors(&attempt.survivors);
  } while (again && !error);
  rg_group_free(&attempt.survivors);
  if (!error)
    *restored = attempt.made;
  return error;
}
