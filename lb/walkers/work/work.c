/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walker that a group works on. The application's functions for walkers are called by
 * RGI_WORK_CALL: here, and where all members call them together (start.c, unit.c, end.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/spare.h"
#include "formation/group.h"
#include "policies/load.h"
#include "shm/revocation.h"
#include "walkers/team/meeting.h"
#include "walkers/team/team.h"
#include "walkers/work/work.h"

#define MERGES 4 /* a group is joined only for so many times as long as a merge takes */

int rgi_work_returned(rgi_work *work, const char *function, int error) {
  char name[64];
  work->follows = 0;
  if (!error)
    return RG_SUCCESS;
  work->follows = work->team && work->team->n > 1 && rgi_revocation_has(work->team->group->context);
  snprintf(name, sizeof name, "%s of walker %lld", function, (long long)work->walker.id);
  return rgi_error_of_callback(name, error, work->mark);
}

void rgi_work_note_rest(rgi_work *work) {
  const rgi_work_stretch *stretch = &work->stretch;
  int known = stretch->units == 0;
  for (int i = 0; i < work->pace.count; i++)
    known |= work->pace.ranks[i] == work->team->n;
  if (!known)
    rg_pace_note(&work->pace, work->team->n, stretch->seconds / stretch->units);
}

/* --- the state ------------------------------------------------------------------------ */

int rgi_work_new_state(rgi_work *work) {
  rg_walker *walker = &work->walker;
  size_t bytes = work->kind.bytes;
  walker->state = NULL;
  if (work->kind.unpack || bytes == 0)
    return RG_SUCCESS;
  walker->state = rgi_spare_alloc_zeroed(1, bytes);
  return walker->state ? RG_SUCCESS
                       : rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", bytes);
}

int rgi_work_take_packed(rgi_work *work, const void *memory, size_t bytes) {
  rg_walker *walker = &work->walker;
  if (work->kind.unpack)
    return RGI_WORK_CALL(work, unpack, walker, memory, bytes, work->kind.context);
  if (bytes != work->kind.bytes)
    return rgi_error(RG_ERR_MISMATCH,
                     "walker %lld: a state of %zu bytes has come; the state has %zu here",
                     (long long)walker->id, bytes, work->kind.bytes);
  memcpy(walker->state, memory, bytes);
  return RG_SUCCESS;
}

int rgi_work_pack_state(rgi_work *work, size_t *bytes, void **memory) {
  const rg_walker *walker = &work->walker;
  *bytes = work->kind.bytes;
  *memory = NULL;
  if (!work->kind.pack)
    return RG_SUCCESS;
  RGI_TRY(RGI_WORK_CALL(work, packed, walker, bytes, work->kind.context));
  *memory = rgi_spare_alloc_zeroed(*bytes ? *bytes : 1, 1);
  if (!*memory)
    return rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of a walker", *bytes);
  return RGI_WORK_CALL(work, pack, walker, *memory, *bytes, work->kind.context);
}

void rgi_work_leave(rgi_work *work) {
  if (!work->working)
    return;
  if (work->kind.drop)
    work->kind.drop(&work->walker, work->kind.context);
  if (!work->kind.unpack)
    rgi_spare_free(work->walker.state);
  work->walker.state = NULL;
  work->working = 0;
  work->pending = RG_SUCCESS;
}

/* --- what is left ----------------------------------------------------------------------- */

int rgi_work_ask_left(const rgi_work *work, double *left) {
  unsigned mark = rgi_error_mark();
  *left = work->kind.left(&work->walker, work->kind.context);
  if (isnan(*left) && rgi_error_mark() != mark)
    return rgi_error_of_callback("left", rgi_error_code(), mark);
  return rgi_load_is_left(*left) ? RG_SUCCESS
                                 : rgi_error(RG_ERR_ARG, "left of walker %lld returned %g",
                                             (long long)work->walker.id, *left);
}

int rgi_work_ask(rgi_work *work) {
  const rg_walker *walker = &work->walker;
  double passed = rgi_clock_now() - work->started;
  RGI_TRY(rgi_work_ask_left(work, &work->left));
  work->may = work->kind.may ? work->kind.may(walker, work->kind.context)
                             : RG_LOAD_JOINABLE | RG_LOAD_LEAVABLE;
  if (work->limit > 0 && work->left != 0 && passed > work->limit)
    return rgi_error(RG_ERR_TIMEOUT, "walker %lld has not ended within %g s (%lld units done)",
                     (long long)walker->id, work->limit, (long long)walker->done);
  return rgi_work_ask_meeting(work);
}

int rgi_work_ask_meeting(rgi_work *work) {
  const rg_walker *walker = &work->walker;
  rg_meeting said = {0};
  work->meeting.count = 0;
  if (!work->kind.meets)
    return RG_SUCCESS;
  RGI_TRY(RGI_WORK_CALL(work, meets, walker, &said, work->kind.context));
  return rgi_meeting_take(&work->meeting, &said, walker->id, work->entry.met);
}

int rgi_work_next(const rgi_work *work) {
  if (work->stopping)
    return RGI_WORK_FINISH;
  if (work->meeting.count)
    return RGI_WORK_MEET;
  return work->left == 0 ? RGI_WORK_FINISH : RGI_WORK_GO_ON;
}

/* Seconds of a unit on the present group, or RG_LOAD_UNKNOWN. */
static double unit_of(const rgi_work *work) {
  double before = work->entry.unit; /* a meeting, on one process */
  return work->unit < 0 && work->pace.count == 0 && before > 0 ? before / work->team->n
                                                               : work->unit;
}

/* Whether the walker will be set aside soon, if it does as many units until its next meeting as
 * before its last one. A merge should last: walkers that meet often would spend their time in
 * merges, since a policy sees the units that are left to the end. */
static int meets_soon(const rgi_work *work) {
  double merge = work->board->shared ? work->board->shared->merge : 0;
  int64_t units = work->entry.between - (work->walker.done - work->entry.done);
  double unit = unit_of(work);
  return units > 0 && unit > 0 && (double)units * unit < MERGES * merge;
}

int rgi_work_joinable(const rgi_work *work) {
  return work->working && (work->may & RG_LOAD_JOINABLE) && (work->left < 0 || work->left > 1) &&
         !meets_soon(work);
}

int rgi_work_leavable(const rgi_work *work) {
  return work->working && (work->may & RG_LOAD_LEAVABLE);
}

rg_load rgi_work_load(const rgi_work *work, int state) {
  rg_load load = {
      .id = work->team->ranks[0], .ranks = work->team->n, .state = state, .node = work->team->node};
  if (!work->working)
    return load;
  load.state |= RG_LOAD_ACTIVE;
  load.least = work->entry.least;
  load.most = work->entry.most;
  load.walkers = 1;
  load.left = work->left;
  load.done = (double)work->walker.done;
  load.unit = unit_of(work);
  load.pace = work->pace;
  load.busy = work->busy;
  return load;
}
