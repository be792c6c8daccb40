/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A group works on a walker: it starts, does units, hands its state to new members, and ends. The
 * application's functions for walkers are called here and nowhere else.
 *
 * An error on one member must end the walker on all. So each member makes a word of its error, the
 * code above the rank, 0 for none, and all take the largest by an allreduce; the member that it
 * names broadcasts the text. After a unit that allreduce also carries the leader's decision what
 * comes next. If the application says that a unit's error is the same on all members (kind.alike),
 * they need not agree, and the leader's decision is sent only every few units.
 *
 * A function that all members call may leave some of them waiting for one that has failed. So a
 * member with an error revokes the application's group first. The code of the error that others
 * then get (RG_ERR_REVOKED) is left out of their words, so that the real one is the largest. */
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "formation/group.h"
#include "noded/overlay_client.h"
#include "shm/revocation.h"
#include "walkers/balancer_state.h"
#include "walkers/load_board.h"
#include "walkers/outcome.h"
#include "walkers/outcome_list.h"
#include "walkers/queue.h"
#include "walkers/store.h"
#include "walkers/store_pack.h"
#include "walkers/store_write.h"
#include "walkers/survival.h"
#include "walkers/walker_team.h"
#include "walkers/work.h"

static int fail_walker(rg_balancer b, int error, int rank, const char *text);

/* --- agreeing about errors ----------------------------------------------------------- */

/* Code and rank of an error as one number, 0 for none. A revoked group is what other members find
 * when one has an error: it counts without its code. */
static int64_t error_word(const struct rg_balancer_s *b, int error) {
  if (error == RG_ERR_REVOKED && rgi_revocation_has(b->team.group->context))
    return b->team.me + 1;
  return error ? (int64_t)error << 32 | (b->team.me + 1) : 0;
}

/* The member that found the error sends its text to all. */
static int spread_text(rg_balancer b, int64_t word, char text[RGI_OUTCOME_TEXT]) {
  int from = (int)(word & 0xffffffff) - 1;
  memset(text, 0, RGI_OUTCOME_TEXT);
  if (b->team.me == from)
    snprintf(text, RGI_OUTCOME_TEXT, "%s", rg_error_detail());
  return rg_bcast(b->team.own, text, RGI_OUTCOME_TEXT, MPI_CHAR, from);
}

static int fail_by_word(rg_balancer b, int64_t word) {
  char text[RGI_OUTCOME_TEXT];
  RGI_TRY(spread_text(b, word, text));
  int code = word >> 32 ? (int)(word >> 32) : RG_ERR_REVOKED;
  return fail_walker(b, code, b->team.ranks[(word & 0xffffffff) - 1], text);
}

/* After functions of the application other than unit. *failed: the walker has ended by an error. */
static int agree_on_error(rg_balancer b, int error, int *failed) {
  int64_t word = error_word(b, error);
  RGI_TRY(rg_allreduce(b->team.own, MPI_IN_PLACE, &word, 1, MPI_INT64_T, MPI_MAX));
  *failed = word != 0;
  return word ? fail_by_word(b, word) : RG_SUCCESS;
}

static int from_callback(const rg_balancer b, const char *which, int error) {
  char name[64];
  snprintf(name, sizeof name, "%s of walker %lld", which, (long long)b->work.walker.id);
  return rgi_error_of_callback(name, error, b->work.mark);
}

#define CALL(function, ...)                                                                        \
  from_callback(b, #function, (b->work.mark = rgi_error_mark(), b->kind.function(__VA_ARGS__)))

/* After a function that all members call: another member may still wait in it for this one. */
static int of_all(rg_balancer b, int error) {
  if (error && b->team.n > 1)
    rgi_overlay_revoke(b->team.group->context);
  return error;
}

/* --- the state ------------------------------------------------------------------------ */

static int take_packed(rg_balancer b, const void *memory, size_t bytes) {
  rg_walker *w = &b->work.walker;
  if (b->kind.unpack)
    return CALL(unpack, w, memory, bytes, b->kind.context);
  if (bytes != b->kind.bytes)
    return rgi_error(RG_ERR_MISMATCH,
                     "walker %lld: a state of %zu bytes has come; the state has %zu here",
                     (long long)w->id, bytes, b->kind.bytes);
  memcpy(w->state, memory, bytes);
  return RG_SUCCESS;
}

/* The packed state in *memory, to be freed by the caller; NULL: the state itself is packed. */
static int pack_state(rg_balancer b, size_t *bytes, void **memory) {
  rg_walker *w = &b->work.walker;
  *bytes = b->kind.bytes;
  *memory = NULL;
  if (!b->kind.pack)
    return RG_SUCCESS;
  RGI_TRY(CALL(packed, w, bytes, b->kind.context));
  if (*bytes > INT32_MAX)
    return rgi_error(RG_ERR_ARG, "packed of walker %lld: %zu bytes; at most 2^31 - 1",
                     (long long)w->id, *bytes);
  *memory = calloc(*bytes ? *bytes : 1, 1);
  if (!*memory)
    return rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of a walker", *bytes);
  return CALL(pack, w, *memory, *bytes, b->kind.context);
}

static int new_state(rg_balancer b) {
  rg_walker *w = &b->work.walker;
  w->state = NULL;
  if (b->kind.unpack || b->kind.bytes == 0)
    return RG_SUCCESS;
  w->state = calloc(1, b->kind.bytes);
  return w->state
             ? RG_SUCCESS
             : rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", b->kind.bytes);
}

void rgi_work_leave(rg_balancer b) {
  rgi_balancer_work *work = &b->work;
  if (!work->working)
    return;
  if (b->kind.drop)
    b->kind.drop(&work->walker, b->kind.context);
  if (!b->kind.unpack)
    free(work->walker.state);
  work->walker.state = NULL;
  work->working = 0;
  work->pending = RG_SUCCESS;
}

/* --- start and handing over ------------------------------------------------------------ */

/* What the leader sends with the state. */
typedef struct {
  rgi_queue_entry entry;
  int64_t done, bytes; /* bytes -1: no state follows; -2: the leader could not pack it */
  double left;
} work_header;

static int told_changed(rg_balancer b) {
  rg_walker *w = &b->work.walker;
  return b->kind.changed ? of_all(b, CALL(changed, w, b->team.group, b->kind.context)) : RG_SUCCESS;
}

static int told_begin(rg_balancer b) {
  b->work.walker.begins = 1;
  int error = told_changed(b);
  b->work.walker.begins = 0;
  return error;
}

int rgi_work_part(rg_balancer b, int stay) {
  rg_walker *w = &b->work.walker;
  char text[RGI_OUTCOME_TEXT];
  if (!b->kind.leaving)
    return RG_SUCCESS;
  int error = of_all(b, CALL(leaving, w, b->team.group, stay, b->kind.context));
  int64_t word = error_word(b, error);
  RGI_TRY(rg_allreduce(b->team.own, MPI_IN_PLACE, &word, 1, MPI_INT64_T, MPI_MAX));
  if (!word)
    return RG_SUCCESS;
  RGI_TRY(spread_text(b, word, text));
  b->work.pending = word >> 32 ? (int)(word >> 32) : RG_ERR_REVOKED;
  snprintf(b->work.text, RGI_OUTCOME_TEXT, "%s", text);
  return RG_SUCCESS;
}

/* Broadcasts the header and, if there is one, the state from the leader. */
static int spread_state(rg_balancer b, work_header *h, void **memory) {
  RGI_TRY(rg_bcast(b->team.own, h, sizeof *h, MPI_BYTE, 0));
  if (h->bytes < 0)
    return RG_SUCCESS;
  if (!rgi_balancer_leads(b)) {
    *memory = malloc(h->bytes ? (size_t)h->bytes : 1);
    if (!*memory)
      return rgi_error(RG_ERR_NOMEM, "no memory for the %lld bytes of a walker",
                       (long long)h->bytes);
  }
  return rg_bcast(b->team.own, *memory, h->bytes, MPI_BYTE, 0);
}

static void take_up(rg_balancer b, const work_header *h) {
  rgi_balancer_work *work = &b->work;
  rgi_queue_entry e = h->entry;
  e.memory = NULL;
  e.state = 0;
  work->working = 1;
  work->entry = e;
  work->walker = (rg_walker){.id = e.id, .done = h->done};
  work->left = h->left;
  work->unit = RG_LOAD_UNKNOWN;
  work->skip = 0;
}

/* The leader asks the application what is left and whether members may join or leave. */
static int ask_walker(rg_balancer b) {
  rgi_balancer_work *work = &b->work;
  const rg_walker *w = &work->walker;
  double limit = b->options.limit, passed = rgi_clock_now() - work->started;
  work->left = b->kind.left(w, b->kind.context);
  if (!(work->left >= 0) && work->left != RG_LOAD_UNKNOWN)
    return rgi_error(RG_ERR_ARG, "left of walker %lld returned %g", (long long)w->id, work->left);
  work->may = b->kind.may ? b->kind.may(w, b->kind.context) : RG_LOAD_JOINABLE | RG_LOAD_LEAVABLE;
  if (limit > 0 && work->left != 0 && passed > limit)
    return rgi_error(RG_ERR_TIMEOUT, "walker %lld has not ended within %g s (%lld units done)",
                     (long long)w->id, limit, (long long)w->done);
  return RG_SUCCESS;
}

static int first_state(rg_balancer b, const void *memory, size_t bytes) {
  rg_walker *w = &b->work.walker;
  RGI_TRY(new_state(b));
  if (memory)
    return take_packed(b, memory, bytes);
  return b->kind.start ? CALL(start, w, b->kind.context) : RG_SUCCESS;
}

int rgi_work_start(rg_balancer b, const rgi_queue_entry *entry, int *next) {
  work_header h = {.bytes = -1, .left = RG_LOAD_UNKNOWN};
  void *memory = NULL;
  if (rgi_balancer_leads(b)) {
    h.entry = *entry;
    RGI_TRY(rgi_store_pack_detach(b, &h.entry));
    h.left = entry->left;
    h.bytes = h.entry.memory ? (int64_t)h.entry.bytes : -1;
    memory = h.entry.memory;
    if (h.entry.record)
      RGI_TRY(rgi_store_load(&h.entry, &h.done, &h.left, &h.bytes, &memory));
  }
  rgi_walker_team_mark(b, RG_SPAN_REGROUP);
  RGI_TRY(spread_state(b, &h, &memory));
  take_up(b, &h);
  b->work.started = rgi_clock_now();
  b->work.may = RG_LOAD_JOINABLE | RG_LOAD_LEAVABLE;
  b->work.pace = (rg_pace){0};
  if (h.entry.unit > 0)
    rg_pace_note(&b->work.pace, 1, h.entry.unit);
  int error = first_state(b, memory, (size_t)h.bytes);
  if (!error)
    error = told_begin(b);
  free(memory);
  if (!error && rgi_balancer_leads(b))
    error = ask_walker(b);
  int64_t words[2] = {error_word(b, error), rgi_balancer_leads(b) && b->work.left == 0};
  RGI_TRY(rg_allreduce(b->team.own, MPI_IN_PLACE, words, 2, MPI_INT64_T, MPI_MAX));
  *next = words[0] ? RGI_WORK_FAIL : words[1] ? RGI_WORK_FINISH : RGI_WORK_GO_ON;
  return words[0] ? fail_by_word(b, words[0]) : RG_SUCCESS;
}

/* The leader's part of handing over: packs the state. */
static int prepare_state(rg_balancer b, work_header *h, void **memory) {
  size_t bytes;
  int error = pack_state(b, &bytes, memory);
  *h = (work_header){.entry = b->work.entry, .done = b->work.walker.done, .left = b->work.left};
  h->bytes = error ? -2 : (int64_t)bytes;
  if (!error && !*memory)
    *memory = b->work.walker.state;
  return error;
}

int rgi_work_hand_over(rg_balancer b) {
  work_header h;
  void *memory = NULL;
  int error = rgi_balancer_leads(b) ? prepare_state(b, &h, &memory) : RG_SUCCESS, failed;
  if (b->work.working && b->work.pending)
    error = rgi_error(b->work.pending, "%s", b->work.text);
  b->work.pending = RG_SUCCESS;
  RGI_TRY(spread_state(b, &h, &memory));
  if (!b->work.working) {
    take_up(b, &h);
    error = new_state(b);
    if (!error && h.bytes >= 0)
      error = take_packed(b, memory, (size_t)h.bytes);
  }
  if (memory != b->work.walker.state)
    free(memory);
  b->work.unit = RG_LOAD_UNKNOWN;
  b->work.skip = 0;
  if (!error && h.bytes >= 0)
    error = told_changed(b);
  return agree_on_error(b, error, &failed);
}

/* --- units and the end --------------------------------------------------------------- */

static int do_unit(rg_balancer b) {
  rgi_balancer_work *work = &b->work;
  rg_walker *w = &work->walker;
  double began = rgi_clock_now();
  rgi_walker_team_mark(b, RG_SPAN_WORK);
  work->in_unit = 1;
  int error = CALL(unit, w, b->team.group, b->kind.context);
  if (!b->kind.alike) /* else every member gets the same error by itself */
    error = of_all(b, error);
  work->in_unit = 0;
  double now = rgi_clock_now(), seconds = now - began;
  w->done++;
  b->counts.units++;
  work->unit = work->unit < 0 ? seconds : (work->unit + seconds) / 2;
  work->new_size = 1;
  for (int i = 0; i < work->pace.count; i++)
    work->new_size &= work->pace.ranks[i] != b->team.n;
  rg_pace_note(&work->pace, b->team.n, seconds);
  return error;
}

/* Units until the leader sends its next decision where errors are alike: so many that sending takes
 * little of the time. */
#define AGREE_SECONDS 10e-3
enum { LONGEST_SKIP = 64 };

static int64_t skip_of(const rgi_balancer_work *work) {
  double units = work->unit > 0 ? AGREE_SECONDS / work->unit : 1;
  return units < 1 ? 1 : units > LONGEST_SKIP ? LONGEST_SKIP : (int64_t)units;
}

/* Reads the words that all members now have: [0] an error of a member, [1] and [2] the leader's
 * decision, [3] an error of the library on the leader, [4] units until they agree again. */
static int conclude_unit(rg_balancer b, const int64_t words[5], int error,
                         rgi_work_decision *next) {
  char *kept = error ? strdupa(rg_error_detail()) : NULL;
  if (words[3])
    return rgi_error((int)words[3], "%s",
                     error == words[3] ? kept : "another member of the group met an error");
  *next = (rgi_work_decision){words[1], words[2]};
  b->work.skip = (int)words[4];
  if (!words[0])
    return RG_SUCCESS;
  next->kind = RGI_WORK_FAIL;
  if (kept)
    rgi_error(error, "%s", kept);
  return fail_by_word(b, words[0]);
}

/* The leader's part: its decision, as words. */
static int lead_unit(rg_balancer b, int (*decide)(rg_balancer b, rgi_work_decision *d), int error,
                     int64_t words[5]) {
  rgi_work_decision d = {RGI_WORK_GO_ON, 0};
  error = error ? error : ask_walker(b);
  words[0] = error_word(b, error);
  int fatal = error ? RG_SUCCESS : decide(b, &d);
  words[1] = d.kind;
  words[2] = d.count;
  words[3] = fatal;
  words[4] = skip_of(&b->work);
  return error ? error : fatal;
}

/* After a unit that all members have done: the leader stores the state, and the walkers that the
 * unit has made can be started from now on. */
static int store_unit(rg_balancer b) {
  size_t bytes = 0;
  void *memory = NULL;
  if (rgi_balancer_leads(b) && b->store) {
    int error = pack_state(b, &bytes, &memory);
    const void *state = memory ? memory : b->work.walker.state;
    if (!error)
      error = rgi_store_write_unit(b, state, bytes, b->kind.pack || bytes > 0);
    free(memory);
    RGI_TRY(error);
  }
  return b->board && b->work.born.count ? rgi_load_board_add_born(b) : RG_SUCCESS;
}

/* Where errors are alike all members know how the unit ended; only the leader's decision is sent.
 */
static int unit_alike(rg_balancer b, int error, int (*decide)(rg_balancer b, rgi_work_decision *d),
                      rgi_work_decision *next) {
  int64_t words[5] = {0};
  rgi_balancer_work *work = &b->work;
  *next = (rgi_work_decision){RGI_WORK_GO_ON, 0};
  if (error) {
    next->kind = RGI_WORK_FAIL;
    return fail_walker(b, error, b->rank, NULL);
  }
  work->left = b->kind.left(&work->walker, b->kind.context);
  RGI_TRY(store_unit(b));
  if (work->left == 0) {
    next->kind = RGI_WORK_FINISH;
    return RG_SUCCESS;
  }
  if (--work->skip > 0)
    return RG_SUCCESS;
  if (rgi_balancer_leads(b))
    error = lead_unit(b, decide, RG_SUCCESS, words);
  RGI_TRY(rg_bcast(b->team.own, words, 5, MPI_INT64_T, 0));
  return conclude_unit(b, words, error, next);
}

int rgi_work_unit(rg_balancer b, int (*decide)(rg_balancer b, rgi_work_decision *d),
                  rgi_work_decision *next) {
  int64_t words[5] = {0};
  int error = do_unit(b);
  if (b->kind.alike)
    return unit_alike(b, error, decide, next);
  if (rgi_balancer_leads(b))
    error = lead_unit(b, decide, error, words);
  else
    words[0] = error_word(b, error);
  RGI_TRY(rg_allreduce(b->team.own, MPI_IN_PLACE, words, 5, MPI_INT64_T, MPI_MAX));
  if (!words[0] && !words[3])
    RGI_TRY(store_unit(b));
  return conclude_unit(b, words, error, next);
}

static int note_outcome(rg_balancer b, int error, int rank, const char *text) {
  const rgi_balancer_work *work = &b->work;
  size_t bytes = 0;
  void *memory = NULL;
  b->counts.ended = rgi_clock_now();
  if (!rgi_balancer_leads(b))
    return RG_SUCCESS;
  if (!error)
    error = pack_state(b, &bytes, &memory);
  rg_balance_outcome o = {.id = work->walker.id,
                          .error = error,
                          .rank = rgi_survival_first_rank(b, rank),
                          .text = text ? text : "",
                          .done = work->walker.done,
                          .seconds = rgi_clock_now() - work->started,
                          .state = error    ? NULL
                                   : memory ? memory
                                            : work->walker.state,
                          .bytes = bytes};
  if (error && !text)
    o.text = strdupa(rg_error_detail());
  error = b->store ? rgi_store_write_outcome(b, &work->entry, &o) : RG_SUCCESS;
  if (!error)
    error = rgi_outcome_add(b, &o);
  free(memory);
  return error;
}

int rgi_work_finish(rg_balancer b) {
  rg_walker *w = &b->work.walker;
  int failed = 0;
  if (b->kind.finished)
    RGI_TRY(
        agree_on_error(b, of_all(b, CALL(finished, w, b->team.group, b->kind.context)), &failed));
  if (failed)
    return RG_SUCCESS;
  RGI_TRY(note_outcome(b, RG_SUCCESS, b->team.ranks[0], NULL));
  rgi_work_leave(b);
  return RG_SUCCESS;
}

/* The walker has failed with an error. The group has no walker afterwards. */
static int fail_walker(rg_balancer b, int error, int rank, const char *text) {
  if (rgi_survival_failure(b)) /* then the error may come from the death */
    return rgi_error(RG_ERR_PROC_FAILED, "walker %lld: a process has died",
                     (long long)b->work.walker.id);
  RGI_TRY(note_outcome(b, error, rank, text));
  if (b->board && b->work.born.count)
    RGI_TRY(rgi_load_board_add_born(b));
  rgi_work_leave(b);
  return rgi_walker_team_renew(b);
}
