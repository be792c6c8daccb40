/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker ends. The leader adds its outcome to those that it reports, and writes it into the
 * walker store of a job that survives. After a death no walker fails: the error may come from the
 * death, and the walker is worked on again. */
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/spare.h"
#include "walkers/board/board.h"
#include "walkers/store/record_index.h"
#include "walkers/store/record_write.h"
#include "walkers/store/store.h"
#include "walkers/team/membership.h"
#include "walkers/team/outcome_list.h"
#include "walkers/team/pace_table.h"
#include "walkers/team/team.h"
#include "walkers/work/work.h"

/* Adds an outcome to those that this process reports. born: the walkers that its units have made,
 * or NULL. */
static int add_outcome(rgi_work *work, uint64_t record, const rg_balance_outcome *outcome,
                       rgi_queue *born) {
  if (rgi_work_store(work))
    RGI_TRY(rgi_record_write_outcome(work->buddy, record, outcome, born));
  return rgi_outcome_list_insert(work->outcomes, outcome);
}

/* What later runs are to know of a walker. */
static int keep(rgi_work *work, int64_t id, const rg_pace *pace, int64_t met) {
  return pace->count || work->kind.meets ? rgi_pace_table_note(work->paces, id, pace, met)
                                         : RG_SUCCESS;
}

static int note_outcome(rgi_work *work, int error, int rank, const char *text) {
  size_t bytes = 0;
  void *memory = NULL;
  rgi_work_note_rest(work);
  double unit = rg_pace_at(&work->pace, 1);
  work->counts->ended = rgi_clock_now();
  if (!rgi_team_leads(work->team))
    return RG_SUCCESS;
  RGI_TRY(keep(work, work->walker.id, &work->pace, work->entry.met));
  if (!error)
    error = rgi_work_pack_state(work, &bytes, &memory);
  rg_balance_outcome outcome = {.id = work->walker.id,
                                .error = error,
                                .rank = rgi_membership_first_rank(work->team->members, rank),
                                .text = text ? text : "",
                                .done = work->walker.done,
                                .seconds = rgi_clock_now() - work->started,
                                .state = error    ? NULL
                                         : memory ? memory
                                                  : work->walker.state,
                                .bytes = bytes,
                                .unit = unit > 0 ? unit : 0,
                                .run = work->run,
                                .met = work->entry.met};
  if (error && !text)
    outcome.text = strdupa(rg_error_detail());
  error = add_outcome(work, work->entry.record, &outcome, &work->born);
  rgi_spare_free(memory);
  return error;
}

int rgi_work_fail(rgi_work *work, int error, int rank, const char *text) {
  RGI_TRY(rgi_membership_check(work->team->members, work->walker.id));
  RGI_TRY(note_outcome(work, error, rank, text));
  if (work->board->shared && work->born.count)
    RGI_TRY(rgi_board_add_born(work->board, &work->born));
  rgi_work_leave(work);
  return rgi_team_renew(work->team);
}

int rgi_work_fail_by_word(rgi_work *work, int64_t word) {
  char text[RGI_OUTCOME_TEXT];
  RGI_TRY(rgi_work_error_spread(work, word, text));
  return rgi_work_fail(work, rgi_work_error_code(word), rgi_work_error_rank(work, word), text);
}

int rgi_work_agree(rgi_work *work, int error, int *failed) {
  int64_t word = rgi_work_error_word(work, error);
  RGI_TRY(rgi_work_error_agree(work, error, &word, 1));
  *failed = word != 0;
  return word ? rgi_work_fail_by_word(work, word) : RG_SUCCESS;
}

int rgi_work_finish(rgi_work *work) {
  rg_walker *walker = &work->walker;
  int failed = 0;
  if (work->kind.finished) {
    int error = RGI_WORK_CALL(work, finished, walker, work->team->group, work->kind.context);
    RGI_TRY(rgi_work_agree(work, rgi_work_error_revoke(work, error), &failed));
  }
  if (failed)
    return RG_SUCCESS;
  RGI_TRY(note_outcome(work, RG_SUCCESS, work->team->ranks[0], NULL));
  rgi_work_leave(work);
  return RG_SUCCESS;
}

static int end_entry(rgi_work *work, rgi_queue_entry *entry, int error, const char *text,
                     int missed) {
  const rgi_membership *members = work->team->members;
  double left, unit = rg_pace_at(&entry->pace, 1);
  int64_t bytes = -1;
  RGI_TRY(rgi_record_pack_detach(work->buddy->index, entry));
  if (entry->record)
    entry->met = rgi_store_met(entry);
  RGI_TRY(keep(work, entry->id, &entry->pace, entry->met));
  rg_balance_outcome outcome = {.id = entry->id,
                                .error = error,
                                .rank = rgi_membership_first_rank(members, members->rank),
                                .text = text,
                                .done = entry->done,
                                .seconds = entry->spent,
                                .unit = unit > 0 ? unit : 0,
                                .run = work->run,
                                .missed = missed,
                                .met = entry->met};
  if (!error && entry->record)
    RGI_TRY(rgi_store_load(entry, &outcome.done, &left, &bytes, &entry->memory));
  else if (!error && entry->memory)
    bytes = (int64_t)entry->bytes;
  if (bytes >= 0) {
    outcome.state = entry->memory;
    outcome.bytes = (size_t)bytes;
  }
  error = add_outcome(work, entry->record, &outcome, NULL);
  rgi_spare_free(entry->memory);
  entry->memory = NULL;
  return error;
}

int rgi_work_end_entry(rgi_work *work, rgi_queue_entry *entry, int error, const char *text) {
  return end_entry(work, entry, error, text, 0);
}

int rgi_work_end_aside(rgi_work *work, rgi_queue_entry *entry, const char *text) {
  int missed = text[0] != '\0';
  return end_entry(work, entry, missed ? RG_ERR_ARG : RG_SUCCESS, text, missed);
}

int rgi_work_fail_waiting(rgi_work *work, const rgi_queue_entry *entry, const char *policy) {
  rgi_error(RG_ERR_ARG,
            "walker %lld needs %lld processes; all groups are idle and the policy %s starts it on "
            "none of them",
            (long long)entry->id, (long long)entry->least, policy);
  rgi_queue_entry own = *entry;
  return rgi_work_end_entry(work, &own, RG_ERR_ARG, strdupa(rg_error_detail()));
}
