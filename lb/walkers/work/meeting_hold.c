/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The process may have a walker of its own between two units. So each walker that meets is taken up
 * in a rgi_work of its own, of which only the kind and the walker are used. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "walkers/store/record_index.h"
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

static int take_up(rgi_work *work, rgi_queue_entry *entry, participant *member) {
  void *memory = entry->memory;
  int64_t bytes = memory ? (int64_t)entry->bytes : -1;
  RGI_TRY(rgi_record_pack_detach(work->buddy->index, entry));
  member->work.walker = (rg_walker){.id = entry->id, .done = entry->done};
  if (entry->record)
    RGI_TRY(rgi_store_load(entry, &member->work.walker.done, &member->left, &bytes, &memory));
  member->work.working = 1;
  int error = rgi_work_new_state(&member->work);
  if (!error && bytes >= 0)
    error = rgi_work_take_packed(&member->work, memory, (size_t)bytes);
  else if (!error && member->work.kind.start)
    error = RGI_WORK_CALL(&member->work, start, &member->work.walker, member->work.kind.context);
  if (memory != entry->memory)
    rgi_spare_free(memory);
  return error;
}

static int meet(int64_t n, participant member[], int64_t number) {
  rgi_work *first = &member[0].work;
  rg_walker **walkers = rgi_spare_alloc((size_t)n * sizeof *walkers);
  if (!walkers)
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)n);
  for (int64_t i = 0; i < n; i++)
    walkers[i] = &member[i].work.walker;
  int error = RGI_WORK_CALL(first, meeting, n, walkers, number, first->kind.context);
  rgi_spare_free(walkers);
  return error;
}

/* What is left, and the packed state. */
static int pack_up(participant *member) {
  RGI_TRY(rgi_work_ask_left(&member->work, &member->left));
  return rgi_work_pack_state(&member->work, &member->bytes, &member->packed);
}

/* The application's part. */
static int call_all(rgi_work *work, int64_t n, rgi_queue_entry entry[], participant member[],
                    int64_t number) {
  for (int64_t i = 0; i < n; i++)
    RGI_TRY(take_up(work, &entry[i], &member[i]));
  RGI_TRY(meet(n, member, number));
  for (int64_t i = 0; i < n; i++)
    RGI_TRY(pack_up(&member[i]));
  return RG_SUCCESS;
}

static void *state_of(const participant *member) {
  return member->packed ? member->packed : member->bytes ? member->work.walker.state : NULL;
}

static int write_store(rgi_work *work, int64_t n, const rgi_queue_entry entry[],
                       const participant member[]) {
  rgi_record_write_walker *walker = rgi_spare_alloc_zeroed((size_t)n, sizeof *walker);
  if (!walker)
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)n);
  for (int64_t i = 0; i < n; i++)
    walker[i] = (rgi_record_write_walker){.record = entry[i].record,
                                          .done = member[i].work.walker.done,
                                          .left = member[i].left,
                                          .state = state_of(&member[i]),
                                          .bytes = member[i].bytes,
                                          .met = entry[i].met};
  int error = rgi_record_write_meeting(work->buddy, n, walker);
  rgi_spare_free(walker);
  return error;
}

/* The walkers as they wait from now on. Without a store their states go with them. */
static int update(rgi_work *work, int64_t n, rgi_queue_entry entry[], participant member[],
                  int64_t number) {
  for (int64_t i = 0; i < n; i++) {
    entry[i].left = member[i].left;
    entry[i].met = number + 1;
    if (rgi_work_store(work))
      continue;
    void *memory = rgi_spare_alloc(member[i].bytes ? member[i].bytes : 1);
    if (!memory)
      return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", member[i].bytes);
    if (member[i].bytes)
      memcpy(memory, state_of(&member[i]), member[i].bytes);
    rgi_spare_free(entry[i].memory);
    entry[i].memory = memory;
    entry[i].bytes = member[i].bytes;
  }
  return rgi_work_store(work) && n > 0 ? write_store(work, n, entry, member) : RG_SUCCESS;
}

/* After a death no walker fails: they meet again. */
static int fail_all(rgi_work *work, int64_t n, rgi_queue_entry entry[], int error) {
  const char *text = strdupa(rg_error_detail());
  RGI_TRY(rgi_membership_check(work->team->members, entry[0].id));
  for (int64_t i = 0; i < n; i++)
    RGI_TRY(rgi_work_end_entry(work, &entry[i], error, text));
  return RG_SUCCESS;
}

int rgi_meeting_hold(rgi_work *work, int64_t count, rgi_queue_entry entries[], int64_t number,
                     int *failed) {
  participant *member = rgi_spare_alloc_zeroed((size_t)count, sizeof *member);
  if (!member)
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)count);
  for (int64_t i = 0; i < count; i++)
    member[i].work.kind = work->kind;
  int error = call_all(work, count, entries, member, number);
  *failed = error != RG_SUCCESS;
  error =
      error ? fail_all(work, count, entries, error) : update(work, count, entries, member, number);
  for (int64_t i = 0; i < count; i++) {
    rgi_work_leave(&member[i].work);
    rgi_spare_free(member[i].packed);
  }
  rgi_spare_free(member);
  return error;
}
