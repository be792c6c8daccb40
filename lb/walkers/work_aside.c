/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * In a job that survives, the walker's record has its state; otherwise it is packed. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "walkers/walker_team.h"
#include "walkers/work.h"
#include "walkers/work_aside.h"
#include "walkers/work_end.h"

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

static int make_entry(rgi_work *work, rgi_queue_entry *e) {
  rgi_work_note_rest(work);
  double unit = rg_pace_at(&work->pace, 1);
  *e = work->entry;
  e->moved = 0;
  e->left = work->left;
  e->done = work->walker.done;
  e->spent = rgi_clock_now() - work->started;
  e->pace = work->pace;
  if (unit > 0)
    e->unit = unit;
  return rgi_work_store(work) ? RG_SUCCESS : pack(work, e);
}

int rgi_work_aside(rgi_work *work, rgi_queue_entry *e, int *failed) {
  int error = RG_SUCCESS;
  *e = (rgi_queue_entry){0};
  if (rgi_walker_team_leads(work->team))
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
