/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The leader sends a header with what is known of the walker, and then its packed state, by two
 * broadcasts in the new group. Members that work on the walker already take part and keep the state
 * that they have. */
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/spare.h"
#include "walkers/store/record_index.h"
#include "walkers/store/store.h"
#include "walkers/team/pace_table.h"
#include "walkers/team/team.h"
#include "walkers/work/work.h"

/* What the leader sends with the state. */
typedef struct {
  rgi_queue_entry entry;
  int64_t done, bytes; /* bytes -1: no state follows; -2: the leader could not pack it */
  double left;
} work_header;

static int told_changed(rgi_work *work) {
  rg_walker *walker = &work->walker;
  if (!work->kind.changed)
    return RG_SUCCESS;
  int error = RGI_WORK_CALL(work, changed, walker, work->team->group, work->kind.context);
  return rgi_work_error_revoke(work, error);
}

static int told_begin(rgi_work *work) {
  work->walker.begins = 1;
  int error = told_changed(work);
  work->walker.begins = 0;
  return error;
}

/* Broadcasts the header and, if there is one, the state from the leader. */
static int spread_state(rgi_work *work, work_header *header, void **memory) {
  rg_group own = work->team->own;
  RGI_TRY(rg_bcast(own, header, sizeof *header, MPI_BYTE, 0));
  if (header->bytes < 0)
    return RG_SUCCESS;
  if (!rgi_team_leads(work->team)) {
    *memory = rgi_spare_alloc(header->bytes ? (size_t)header->bytes : 1);
    if (!*memory)
      return rgi_error(RG_ERR_NOMEM, "no memory for the %lld bytes of a walker",
                       (long long)header->bytes);
  }
  return rg_bcast(own, *memory, header->bytes, MPI_BYTE, 0);
}

static void take_up(rgi_work *work, const work_header *header) {
  rgi_queue_entry entry = header->entry;
  entry.memory = NULL;
  entry.state = 0;
  work->working = 1;
  work->entry = entry;
  work->walker = (rg_walker){.id = entry.id, .done = header->done};
  work->left = header->left;
  work->unit = RG_LOAD_UNKNOWN;
  work->stretch = (rgi_work_stretch){0};
  work->skip = 0;
}

/* --- a walker begins -------------------------------------------------------------------- */

/* The leader's part of beginning: finds the state, in the entry or in the walker store. */
static int find_state(rgi_work *work, const rgi_queue_entry *entry, work_header *header,
                      void **memory) {
  header->entry = *entry;
  RGI_TRY(rgi_record_pack_detach(work->buddy->index, &header->entry));
  header->left = entry->left;
  header->bytes = header->entry.memory ? (int64_t)header->entry.bytes : -1;
  *memory = header->entry.memory;
  header->done = entry->done;
  if (header->entry.record) {
    RGI_TRY(rgi_store_load(&header->entry, &header->done, &header->left, &header->bytes, memory));
    header->entry.met = rgi_store_met(&header->entry);
  }
  return RG_SUCCESS;
}

static int first_state(rgi_work *work, const void *memory, size_t bytes) {
  RGI_TRY(rgi_work_new_state(work));
  if (memory)
    return rgi_work_take_packed(work, memory, bytes);
  return work->kind.start ? RGI_WORK_CALL(work, start, &work->walker, work->kind.context)
                          : RG_SUCCESS;
}

/* What is known of the walker's pace: from an earlier run, unless the application has said
 * something else since; or what the application says. A walker that has met others begins without a
 * pace: units may take longer or shorter than before, and a policy would take that for an effect of
 * the group's size. */
static void begin_pace(rgi_work *work) {
  const rgi_queue_entry *entry = &work->entry;
  const rg_pace *known = rgi_pace_table_find(work->paces, entry->id);
  work->pace = (rg_pace){0};
  if (entry->pace.count)
    return;
  if (known && entry->unit == rgi_pace_table_unit(work->paces, entry->id))
    work->pace = *known;
  else if (entry->unit > 0)
    rg_pace_note(&work->pace, 1, entry->unit);
}

int rgi_work_start(rgi_work *work, const rgi_queue_entry *entry, int *next) {
  work_header header = {.bytes = -1, .left = RG_LOAD_UNKNOWN};
  int leads = rgi_team_leads(work->team);
  void *memory = NULL;
  if (leads)
    RGI_TRY(find_state(work, entry, &header, &memory));
  rgi_team_mark(work->team, RG_SPAN_REGROUP);
  RGI_TRY(spread_state(work, &header, &memory));
  take_up(work, &header);
  work->started = rgi_clock_now() - header.entry.spent;
  work->may = RG_LOAD_JOINABLE | RG_LOAD_LEAVABLE;
  begin_pace(work);
  work->busy = work->entry.busy;
  int error = first_state(work, memory, (size_t)header.bytes);
  if (!error)
    error = told_begin(work);
  rgi_spare_free(memory);
  if (!error && leads)
    error = rgi_work_ask(work);
  int64_t words[2] = {rgi_work_error_word(work, error), leads ? rgi_work_next(work) : 0};
  RGI_TRY(rgi_work_error_agree(work, error, words, 2));
  *next = words[0] ? RGI_WORK_FAIL : (int)words[1];
  return words[0] ? rgi_work_fail_by_word(work, words[0]) : RG_SUCCESS;
}

/* --- handing over ------------------------------------------------------------------------ */

/* The leader's part of handing over: packs the state. */
static int prepare_state(rgi_work *work, work_header *header, void **memory) {
  size_t bytes;
  int error = rgi_work_pack_state(work, &bytes, memory);
  *header = (work_header){.entry = work->entry, .done = work->walker.done, .left = work->left};
  header->bytes = error ? -2 : (int64_t)bytes;
  if (!error && !*memory)
    *memory = work->walker.state;
  return error;
}

int rgi_work_hand_over(rgi_work *work) {
  work_header header;
  void *memory = NULL;
  int error = RG_SUCCESS, failed;
  if (rgi_team_leads(work->team))
    error = prepare_state(work, &header, &memory);
  if (work->working && work->pending)
    error = rgi_error(work->pending, "%s", work->text);
  work->pending = RG_SUCCESS;
  RGI_TRY(spread_state(work, &header, &memory));
  if (!work->working) {
    take_up(work, &header);
    error = rgi_work_new_state(work);
    if (!error && header.bytes >= 0)
      error = rgi_work_take_packed(work, memory, (size_t)header.bytes);
  }
  if (memory != work->walker.state)
    rgi_spare_free(memory);
  work->unit = RG_LOAD_UNKNOWN;
  work->stretch = (rgi_work_stretch){0};
  work->skip = 0;
  if (!error && header.bytes >= 0)
    error = told_changed(work);
  return rgi_work_agree(work, error, &failed);
}

int rgi_work_part(rgi_work *work, int stay) {
  rg_walker *walker = &work->walker;
  if (!work->kind.leaving)
    return RG_SUCCESS;
  int error = RGI_WORK_CALL(work, leaving, walker, work->team->group, stay, work->kind.context);
  error = rgi_work_error_revoke(work, error);
  int64_t word = rgi_work_error_word(work, error);
  RGI_TRY(rgi_work_error_agree(work, error, &word, 1));
  if (!word)
    return RG_SUCCESS;
  RGI_TRY(rgi_work_error_spread(work, word, work->text));
  work->pending = rgi_work_error_code(word);
  return RG_SUCCESS;
}
