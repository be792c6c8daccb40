/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The process may have a walker of its own between two units. So each walker that meets is taken up
 * in a rgi_work of its own, of which only the kind and the walker are used. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "policies/load.h"
#include "walkers/store/record_pack.h"
#include "walkers/store/record_write.h"
#include "walkers/store/store.h"
#include "walkers/team/membership.h"
#include "walkers/team/team.h"
#include "walkers/work/meeting_hold.h"
#include "walkers/work/work.h"

/* A walker that meets. */
typedef struct {
  rgi_work work;
  double left;
  void *packed; /* after the meeting, or NULL: the state is not packed */
  size_t bytes;
} participant;

static int take_up(rgi_work *work, rgi_queue_entry *e, participant *p) {
  void *memory = e->memory;
  int64_t bytes = memory ? (int64_t)e->bytes : -1;
  RGI_TRY(rgi_record_pack_detach(work->buddy->index, e));
  p->work.walker = (rg_walker){.id = e->id, .done = e->done};
  if (e->record)
    RGI_TRY(rgi_store_load(e, &p->work.walker.done, &p->left, &bytes, &memory));
  p->work.working = 1;
  int error = rgi_work_new_state(&p->work);
  if (!error && bytes >= 0)
    error = rgi_work_take_packed(&p->work, memory, (size_t)bytes);
  else if (!error && p->work.kind.start)
    error = RGI_WORK_CALL(&p->work, start, &p->work.walker, p->work.kind.context);
  if (memory != e->memory)
    free(memory);
  return error;
}

static int meet(int64_t n, participant p[], int64_t number) {
  rgi_work *first = &p[0].work;
  rg_walker **walkers = malloc((size_t)n * sizeof *walkers);
  if (!walkers)
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)n);
  for (int64_t i = 0; i < n; i++)
    walkers[i] = &p[i].work.walker;
  int error = RGI_WORK_CALL(first, meeting, n, walkers, number, first->kind.context);
  free(walkers);
  return error;
}

/* What is left, and the packed state. */
static int pack_up(participant *p) {
  const rg_walker *w = &p->work.walker;
  p->left = p->work.kind.left(w, p->work.kind.context);
  if (!rgi_load_is_left(p->left))
    return rgi_error(RG_ERR_ARG, "left of walker %lld returned %g", (long long)w->id, p->left);
  return rgi_work_pack_state(&p->work, &p->bytes, &p->packed);
}

/* The application's part. */
static int call_all(rgi_work *work, int64_t n, rgi_queue_entry e[], participant p[],
                    int64_t number) {
  for (int64_t i = 0; i < n; i++)
    RGI_TRY(take_up(work, &e[i], &p[i]));
  RGI_TRY(meet(n, p, number));
  for (int64_t i = 0; i < n; i++)
    RGI_TRY(pack_up(&p[i]));
  return RG_SUCCESS;
}

static void *state_of(const participant *p) {
  return p->packed ? p->packed : p->bytes ? p->work.walker.state : NULL;
}

static int write_store(rgi_work *work, int64_t n, const rgi_queue_entry e[],
                       const participant p[]) {
  rgi_record_write_walker *w = calloc((size_t)n, sizeof *w);
  if (!w)
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)n);
  for (int64_t i = 0; i < n; i++)
    w[i] = (rgi_record_write_walker){.record = e[i].record,
                                     .done = p[i].work.walker.done,
                                     .left = p[i].left,
                                     .state = state_of(&p[i]),
                                     .bytes = p[i].bytes,
                                     .met = e[i].met};
  int error = rgi_record_write_meeting(work->buddy, n, w);
  free(w);
  return error;
}

/* The walkers as they wait from now on. Without a store their states go with them. */
static int update(rgi_work *work, int64_t n, rgi_queue_entry e[], participant p[], int64_t number) {
  for (int64_t i = 0; i < n; i++) {
    e[i].left = p[i].left;
    e[i].met = number + 1;
    if (rgi_work_store(work))
      continue;
    void *memory = malloc(p[i].bytes ? p[i].bytes : 1);
    if (!memory)
      return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", p[i].bytes);
    if (p[i].bytes)
      memcpy(memory, state_of(&p[i]), p[i].bytes);
    free(e[i].memory);
    e[i].memory = memory;
    e[i].bytes = p[i].bytes;
  }
  return rgi_work_store(work) && n > 0 ? write_store(work, n, e, p) : RG_SUCCESS;
}

/* After a death no walker fails: they meet again. */
static int fail_all(rgi_work *work, int64_t n, rgi_queue_entry e[], int error) {
  const char *text = strdupa(rg_error_detail());
  if (rgi_membership_failure(work->team->members))
    return rgi_error(RG_ERR_PROC_FAILED, "walker %lld: a process has died", (long long)e[0].id);
  for (int64_t i = 0; i < n; i++)
    RGI_TRY(rgi_work_end_entry(work, &e[i], error, text));
  return RG_SUCCESS;
}

int rgi_meeting_hold(rgi_work *work, int64_t count, rgi_queue_entry entries[], int64_t number,
                     int *failed) {
  participant *p = calloc((size_t)count, sizeof *p);
  if (!p)
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)count);
  for (int64_t i = 0; i < count; i++)
    p[i].work.kind = work->kind;
  int error = call_all(work, count, entries, p, number);
  *failed = error != RG_SUCCESS;
  error = error ? fail_all(work, count, entries, error) : update(work, count, entries, p, number);
  for (int64_t i = 0; i < count; i++) {
    rgi_work_leave(&p[i].work);
    free(p[i].packed);
  }
  free(p);
  return error;
}
