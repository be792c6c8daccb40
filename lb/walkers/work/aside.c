/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * In a job that survives, the walker's record has its state; otherwise it is packed. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/spare.h"
#include "walkers/team/processor_time.h"
#include "walkers/team/team.h"
#include "walkers/work/work.h"

static int pack(rgi_work *work, rgi_queue_entry *entry) {
  RGI_TRY(rgi_work_pack_state(work, &entry->bytes, &entry->memory));
  if (entry->memory)
    return RG_SUCCESS;
  entry->memory = rgi_spare_alloc_zeroed(entry->bytes ? entry->bytes : 1, 1);
  if (!entry->memory)
    return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", entry->bytes);
  if (entry->bytes)
    memcpy(entry->memory, work->walker.state, entry->bytes);
  return RG_SUCCESS;
}

/* The processors that the leader would use. Walkers that meet often are never measured for a whole
 * stretch: what is known of each time before a meeting counts as much as all before. */
static double use_of(const rgi_work *work) {
  const rgi_work_stretch *stretch = &work->stretch;
  if (stretch->units == 0 || stretch->before > 0)
    return work->busy;
  double seconds = rgi_clock_now() - stretch->since;
  rgi_processor_time now = rgi_processor_time_now();
  double use = rgi_processor_time_use(&stretch->processor, &now, seconds);
  return work->busy > 0 ? (work->busy + use) / 2 : use;
}

static int make_entry(rgi_work *work, rgi_queue_entry *entry) {
  rgi_work_note_rest(work);
  double unit = rg_pace_at(&work->pace, 1);
  *entry = work->entry;
  entry->moved = 0;
  entry->left = work->left;
  entry->between = work->walker.done - work->entry.done;
  entry->done = work->walker.done;
  entry->spent = rgi_clock_now() - work->started;
  entry->pace = work->pace;
  entry->busy = use_of(work);
  if (unit > 0)
    entry->unit = unit;
  return rgi_work_store(work) ? RG_SUCCESS : pack(work, entry);
}

int rgi_work_aside(rgi_work *work, rgi_queue_entry *entry, int *failed) {
  int error = RG_SUCCESS;
  *entry = (rgi_queue_entry){0};
  if (rgi_team_leads(work->team))
    error = make_entry(work, entry);
  error = rgi_work_agree(work, error, failed);
  if (error || *failed) {
    rgi_spare_free(entry->memory);
    entry->memory = NULL;
    return error;
  }
  rgi_work_leave(work);
  return RG_SUCCESS;
}
