/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * In a job that survives, the walker's record has its state; otherwise it is packed. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "walkers/team/processor_time.h"
#include "walkers/team/team.h"
#include "walkers/work/work.h"

static int pack(rgi_work *work, rgi_queue_entry *e) {
  RGI_TRY(rgi_work_pack_state(work, &e->bytes, &e->memory));
  if (e->memory)
    return RG_SUCCESS;
  e->memory = calloc(e->bytes ? e->bytes : 1, 1);
  if (!e->memory)
    return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", e->bytes);
  if (e->bytes)
    memcpy(e->memory, work->walker.state, e->bytes);
  return RG_SUCCESS;
}

/* The processors that the leader would use. Walkers that meet often are never measured for a whole
 * stretch: what is known of each time before a meeting counts as much as all before. */
static double use_of(const rgi_work *work) {
  const rgi_work_stretch *s = &work->stretch;
  if (s->units == 0 || s->before > 0)
    return work->busy;
  double seconds = rgi_clock_now() - s->since;
  rgi_processor_time now = rgi_processor_time_now();
  double use = rgi_processor_time_use(&s->processor, &now, seconds);
  return work->busy > 0 ? (work->busy + use) / 2 : use;
}

static int make_entry(rgi_work *work, rgi_queue_entry *e) {
  rgi_work_note_rest(work);
  double unit = rg_pace_at(&work->pace, 1);
  *e = work->entry;
  e->moved = 0;
  e->left = work->left;
  e->between = work->walker.done - work->entry.done;
  e->done = work->walker.done;
  e->spent = rgi_clock_now() - work->started;
  e->pace = work->pace;
  e->busy = use_of(work);
  if (unit > 0)
    e->unit = unit;
  return rgi_work_store(work) ? RG_SUCCESS : pack(work, e);
}

int rgi_work_aside(rgi_work *work, rgi_queue_entry *e, int *failed) {
  int error = RG_SUCCESS;
  *e = (rgi_queue_entry){0};
  if (rgi_team_leads(work->team))
    error = make_entry(work, e);
  error = rgi_work_agree(work, error, failed);
  if (error || *failed) {
    free(e->memory);
    e->memory = NULL;
    return error;
  }
  rgi_work_leave(work);
  return RG_SUCCESS;
}
