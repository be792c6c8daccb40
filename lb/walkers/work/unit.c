/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * After a unit an allreduce carries the members' errors (member_error.c) and the leader's decision
 * what comes next. If the application says that a unit's error is the same on all members
 * (kind.alike), they need not agree, and the leader's decision is sent only every few units. */
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/spare.h"
#include "walkers/board/board.h"
#include "walkers/store/record_write.h"
#include "walkers/team/processor_time.h"
#include "walkers/team/team.h"
#include "walkers/work/work.h"

#define STRETCH_SECONDS 2e-3

/* Only the leader's is told to others; reading it costs some microseconds. */
static rgi_processor_time processor_time(const rgi_work *work) {
  return rgi_team_leads(work->team) ? rgi_processor_time_now() : (rgi_processor_time){0};
}

/* The stretch has ended: what has been measured is noted. */
static void end_stretch(rgi_work *work, double now) {
  rgi_work_stretch *stretch = &work->stretch;
  double seconds = stretch->seconds / stretch->units;
  rgi_processor_time processor = processor_time(work);
  int n = work->team->n;
  work->unit = work->unit < 0 || stretch->units > 1 ? seconds : (work->unit + seconds) / 2;
  work->measured = stretch->before == 0;
  for (int i = 0; i < work->pace.count; i++)
    work->measured &= work->pace.ranks[i] != n;
  work->new_size |= work->measured;
  rg_pace_note(&work->pace, n, seconds);
  work->busy = rgi_processor_time_use(&stretch->processor, &processor, now - stretch->since);
  *stretch =
      (rgi_work_stretch){.before = stretch->before + 1, .since = now, .processor = processor};
}

/* Notes the time of a unit. Short ones are measured together. */
static void note_unit(rgi_work *work, double now, double seconds) {
  rgi_work_stretch *stretch = &work->stretch;
  work->measured = 0;
  work->new_size = work->unit < 0;
  for (int i = 0; i < work->pace.count; i++)
    work->new_size &= work->pace.ranks[i] != work->team->n;
  stretch->units++;
  stretch->seconds += seconds;
  if (stretch->seconds >= STRETCH_SECONDS)
    end_stretch(work, now);
  else if (work->unit < 0)
    work->unit = seconds;
}

static int do_unit(rgi_work *work) {
  rg_walker *walker = &work->walker;
  if (work->stretch.since == 0) {
    work->stretch.processor = processor_time(work);
    work->stretch.since = rgi_clock_now();
  }
  double began = rgi_clock_now();
  rgi_team_mark_work(work->team, walker->id);
  work->in_unit = 1;
  int error = RGI_WORK_CALL(work, unit, walker, work->team->group, work->kind.context);
  if (!work->kind.alike) /* else every member gets the same error by itself */
    error = rgi_work_error_revoke(work, error);
  work->in_unit = 0;
  double now = rgi_clock_now();
  walker->done++;
  work->counts->units++;
  note_unit(work, now, now - began);
  return error;
}

/* Units until the leader sends its next decision where errors are alike: so many that sending takes
 * little of the time. */
#define AGREE_SECONDS 10e-3
enum { LONGEST_SKIP = 64 };

static int64_t skip_of(const rgi_work *work) {
  double units = work->unit > 0 ? AGREE_SECONDS / work->unit : 1;
  return units < 1 ? 1 : units > LONGEST_SKIP ? LONGEST_SKIP : (int64_t)units;
}

/* Reads the words that all members now have: [0] an error of a member, [1] and [2] the leader's
 * decision, [3] an error of the library on the leader, [4] units until they agree again. */
static int conclude_unit(rgi_work *work, const int64_t words[5], int error,
                         rgi_work_decision *next) {
  char *kept = error ? strdupa(rg_error_detail()) : NULL;
  if (words[3])
    return rgi_error((int)words[3], "%s",
                     error == words[3] ? kept : "another member of the group met an error");
  *next = (rgi_work_decision){words[1], words[2]};
  work->skip = (int)words[4];
  if (!words[0])
    return RG_SUCCESS;
  next->kind = RGI_WORK_FAIL;
  if (kept)
    rgi_error(error, "%s", kept);
  return rgi_work_fail_by_word(work, words[0]);
}

/* The leader's part: its decision, as words. */
static int lead_unit(rgi_work *work, rgi_work_unit_decide *decide, void *of, int error,
                     int64_t words[5]) {
  rgi_work_decision decision = {RGI_WORK_GO_ON, 0};
  error = error ? error : rgi_work_ask(work);
  words[0] = rgi_work_error_word(work, error);
  int fatal = error ? RG_SUCCESS : decide(of, &decision);
  words[1] = decision.kind;
  words[2] = decision.count;
  words[3] = fatal;
  words[4] = skip_of(work);
  return error ? error : fatal;
}

static int store_walker(rgi_work *work) {
  rgi_record_write_walker walker = {
      .record = work->entry.record, .done = work->walker.done, .left = work->left};
  void *memory = NULL;
  int error = rgi_work_pack_state(work, &walker.bytes, &memory);
  walker.state = memory ? memory : walker.bytes > 0 ? work->walker.state : NULL;
  if (!error)
    error = rgi_record_write_unit(work->buddy, &walker, &work->born);
  rgi_spare_free(memory);
  return error;
}

/* After a unit that all members have done: the leader stores the state, and the walkers that the
 * unit has made can be started from now on. */
static int store_unit(rgi_work *work) {
  if (rgi_team_leads(work->team) && rgi_work_store(work))
    RGI_TRY(store_walker(work));
  return work->board->shared && work->born.count ? rgi_board_add_born(work->board, &work->born)
                                                 : RG_SUCCESS;
}

/* Where errors are alike all members know how the unit ended; only the leader's decision is sent.
 */
static int unit_alike(rgi_work *work, int error, rgi_work_unit_decide *decide, void *of,
                      rgi_work_decision *next) {
  int64_t words[5] = {0};
  *next = (rgi_work_decision){RGI_WORK_GO_ON, 0};
  if (error) {
    next->kind = RGI_WORK_FAIL;
    return rgi_work_fail(work, error, work->team->members->rank, NULL);
  }
  error = rgi_work_ask_left(work, &work->left);
  if (!error) {
    RGI_TRY(store_unit(work));
    error = rgi_work_ask_meeting(work);
  }
  if (error) {
    next->kind = RGI_WORK_FAIL;
    return rgi_work_fail(work, error, work->team->members->rank, NULL);
  }
  if (work->left == 0 || work->meeting.count) {
    next->kind = work->meeting.count ? RGI_WORK_MEET : RGI_WORK_FINISH;
    return RG_SUCCESS;
  }
  if (--work->skip > 0)
    return RG_SUCCESS;
  if (rgi_team_leads(work->team))
    error = lead_unit(work, decide, of, RG_SUCCESS, words);
  RGI_TRY(rg_bcast(work->team->own, words, 5, MPI_INT64_T, 0));
  return conclude_unit(work, words, error, next);
}

/* The members agree about a unit, and learn what is next. */
static int agree_unit(rgi_work *work, int error, rgi_work_unit_decide *decide, void *of,
                      rgi_work_decision *next) {
  int64_t words[5] = {0};
  if (rgi_team_leads(work->team))
    error = lead_unit(work, decide, of, error, words);
  else
    words[0] = rgi_work_error_word(work, error);
  RGI_TRY(rgi_work_error_agree(work, error, words, 5));
  if (!words[0] && !words[3])
    RGI_TRY(store_unit(work));
  return conclude_unit(work, words, error, next);
}

/* A larger group takes longer to agree: that is a part of its next unit's time. */
int rgi_work_unit(rgi_work *work, rgi_work_unit_decide *decide, void *of, rgi_work_decision *next) {
  int error = do_unit(work);
  double began = rgi_clock_now();
  error = work->kind.alike ? unit_alike(work, error, decide, of, next)
                           : agree_unit(work, error, decide, of, next);
  work->stretch.seconds += rgi_clock_now() - began;
  return error;
}
