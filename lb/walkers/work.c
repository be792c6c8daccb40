/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "formation/group.h"
#include "noded/overlay_client.h"
#include "shm/revocation.h"
#include "walkers/balancer.h"
#include "walkers/survive.h"
#include "walkers/vault.h"

/* --- agreeing about errors ----------------------------------------------------------- */

/* Code and rank of an error as one number, 0 for none. That the group was revoked is what others
 * find where somebody has an error: it has no code, so that the error counts. */
static int64_t error_word(const struct rg_balancer_s *b, int error) {
  if (error == RG_ERR_REVOKED && rgi_revocation_has(b->crew.group->context))
    return b->crew.me + 1;
  return error ? (int64_t)error << 32 | (b->crew.me + 1) : 0;
}

/* Who found the error tells all members what it was. */
static int spread_text(rg_balancer b, int64_t word, char text[RGI_TEXT]) {
  int from = (int)(word & 0xffffffff) - 1;
  memset(text, 0, RGI_TEXT);
  if (b->crew.me == from)
    snprintf(text, RGI_TEXT, "%s", rg_error_detail());
  return rg_bcast(b->crew.own, text, RGI_TEXT, MPI_CHAR, from);
}

static int fail_by_word(rg_balancer b, int64_t word) {
  char text[RGI_TEXT];
  RGI_TRY(spread_text(b, word, text));
  int code = word >> 32 ? (int)(word >> 32) : RG_ERR_REVOKED;
  return rgi_work_fail(b, code, b->crew.ranks[(word & 0xffffffff) - 1], text);
}

/* After callbacks other than unit. *failed: the walker is at its end. */
static int agree(rg_balancer b, int error, int *failed) {
  int64_t word = error_word(b, error);
  RGI_TRY(rg_allreduce(b->crew.own, MPI_IN_PLACE, &word, 1, MPI_INT64_T, MPI_MAX));
  *failed = word != 0;
  return word ? fail_by_word(b, word) : RG_SUCCESS;
}

/* The detail of an error of the application's: its own text if it has set one. */
static int from_callback(const char *which, int error, const rg_walker *w) {
  if (error < RG_SUCCESS || error >= RG_ERR_LAST)
    return rgi_error(RG_ERR_ARG, "%s of walker %lld returned %d, which is no error code", which,
                     (long long)w->id, error);
  if (error)
    return rgi_error(error, "%s of walker %lld: %s", which, (long long)w->id,
                     *rg_error_detail() ? strdupa(rg_error_detail()) : rg_error_string(error));
  return RG_SUCCESS;
}

/* A text of an earlier error is none of this one's. */
#define CALL(function, ...)                                                                        \
  (rgi_error(RG_SUCCESS, "%s", ""), from_callback(#function, b->kind.function(__VA_ARGS__), w))

/* The error of a callback that all members call: the others may wait there for this one. */
static int of_all(rg_balancer b, int error) {
  if (error && b->crew.n > 1)
    rgi_overlay_revoke(b->crew.group->context);
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

/* The packed state: memory to be freed, or the state itself. */
static int pack(rg_balancer b, size_t *bytes, void **memory) {
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
  rgi_work *work = &b->work;
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

/* What the leader tells. */
typedef struct {
  rgi_entry entry;
  int64_t done, bytes; /* bytes -1: no state comes; -2: the leader could not pack it */
  double left;
} header;

static int told_changed(rg_balancer b) {
  rg_walker *w = &b->work.walker;
  return b->kind.changed ? of_all(b, CALL(changed, w, b->crew.group, b->kind.context)) : RG_SUCCESS;
}

static int told_begin(rg_balancer b) {
  b->work.walker.begins = 1;
  int error = told_changed(b);
  b->work.walker.begins = 0;
  return error;
}

int rgi_work_part(rg_balancer b, int stay) {
  rg_walker *w = &b->work.walker;
  char text[RGI_TEXT];
  if (!b->kind.leaving)
    return RG_SUCCESS;
  int error = of_all(b, CALL(leaving, w, b->crew.group, stay, b->kind.context));
  int64_t word = error_word(b, error);
  RGI_TRY(rg_allreduce(b->crew.own, MPI_IN_PLACE, &word, 1, MPI_INT64_T, MPI_MAX));
  if (!word)
    return RG_SUCCESS;
  RGI_TRY(spread_text(b, word, text));
  b->work.pending = word >> 32 ? (int)(word >> 32) : RG_ERR_REVOKED;
  snprintf(b->work.text, RGI_TEXT, "%s", text);
  return RG_SUCCESS;
}

/* The header, and the state if there is one, from the leader to those that need it. */
static int spread(rg_balancer b, header *h, void **memory) {
  RGI_TRY(rg_bcast(b->crew.own, h, sizeof *h, MPI_BYTE, 0));
  if (h->bytes < 0)
    return RG_SUCCESS;
  if (!rgi_leads(b)) {
    *memory = malloc(h->bytes ? (size_t)h->bytes : 1);
    if (!*memory)
      return rgi_error(RG_ERR_NOMEM, "no memory for the %lld bytes of a walker",
                       (long long)h->bytes);
  }
  return rg_bcast(b->crew.own, *memory, h->bytes, MPI_BYTE, 0);
}

static void take_up(rg_balancer b, const header *h) {
  rgi_work *work = &b->work;
  rgi_entry e = h->entry;
  e.memory = NULL;
  e.state = 0;
  work->working = 1;
  work->entry = e;
  work->walker = (rg_walker){.id = e.id, .done = h->done};
  work->left = h->left;
  work->unit = RG_UNKNOWN;
  work->skip = 0;
}

/* What the leader learns of the walker. */
static int ask(rg_balancer b) {
  rgi_work *work = &b->work;
  const rg_walker *w = &work->walker;
  double limit = b->options.limit, passed = rgi_clock_now() - work->started;
  work->left = b->kind.left(w, b->kind.context);
  if (!(work->left >= 0) && work->left != RG_UNKNOWN)
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

int rgi_work_start(rg_balancer b, const rgi_entry *entry, int *next) {
  header h = {.bytes = -1, .left = RG_UNKNOWN};
  void *memory = NULL;
  if (rgi_leads(b)) {
    h.entry = *entry;
    RGI_TRY(rgi_entry_unwrap(b, &h.entry));
    h.left = entry->left;
    h.bytes = h.entry.memory ? (int64_t)h.entry.bytes : -1;
    memory = h.entry.memory;
    if (h.entry.record)
      RGI_TRY(rgi_vault_load(&h.entry, &h.done, &h.left, &h.bytes, &memory));
  }
  rgi_mark(b, RG_SPAN_REGROUP);
  RGI_TRY(spread(b, &h, &memory));
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
  if (!error && rgi_leads(b))
    error = ask(b);
  int64_t words[2] = {error_word(b, error), rgi_leads(b) && b->work.left == 0};
  RGI_TRY(rg_allreduce(b->crew.own, MPI_IN_PLACE, words, 2, MPI_INT64_T, MPI_MAX));
  *next = words[0] ? RGI_FAIL : words[1] ? RGI_FINISH : RGI_GO_ON;
  return words[0] ? fail_by_word(b, words[0]) : RG_SUCCESS;
}

/* The leader's part of handing over: a copy of the state. */
static int prepare(rg_balancer b, header *h, void **memory) {
  size_t bytes;
  int error = pack(b, &bytes, memory);
  *h = (header){.entry = b->work.entry, .done = b->work.walker.done, .left = b->work.left};
  h->bytes = error ? -2 : (int64_t)bytes;
  if (!error && !*memory)
    *memory = b->work.walker.state;
  return error;
}

int rgi_work_hand_over(rg_balancer b) {
  header h;
  void *memory = NULL;
  int error = rgi_leads(b) ? prepare(b, &h, &memory) : RG_SUCCESS, failed;
  if (b->work.working && b->work.pending)
    error = rgi_error(b->work.pending, "%s", b->work.text);
  b->work.pending = RG_SUCCESS;
  RGI_TRY(spread(b, &h, &memory));
  if (!b->work.working) {
    take_up(b, &h);
    error = new_state(b);
    if (!error && h.bytes >= 0)
      error = take_packed(b, memory, (size_t)h.bytes);
  }
  if (memory != b->work.walker.state)
    free(memory);
  b->work.unit = RG_UNKNOWN;
  b->work.skip = 0;
  if (!error && h.bytes >= 0)
    error = told_changed(b);
  return agree(b, error, &failed);
}

/* --- units and the end --------------------------------------------------------------- */

static int do_unit(rg_balancer b) {
  rgi_work *work = &b->work;
  rg_walker *w = &work->walker;
  double began = rgi_clock_now();
  rgi_mark(b, RG_SPAN_WORK);
  work->in_unit = 1;
  int error = CALL(unit, w, b->crew.group, b->kind.context);
  if (!b->kind.alike) /* else all have it, each when it has come so far */
    error = of_all(b, error);
  work->in_unit = 0;
  double now = rgi_clock_now(), seconds = now - began;
  w->done++;
  b->counts.units++;
  work->unit = work->unit < 0 ? seconds : (work->unit + seconds) / 2;
  work->new_size = 1;
  for (int i = 0; i < work->pace.count; i++)
    work->new_size &= work->pace.ranks[i] != b->crew.n;
  rg_pace_note(&work->pace, b->crew.n, seconds);
  return error;
}

/* Units until the members agree again, when they need not after each: so many that this
 * takes little of the time. */
#define AGREE_SECONDS 10e-3
enum { LONGEST_SKIP = 64 };

static int64_t skip_of(const rgi_work *work) {
  double units = work->unit > 0 ? AGREE_SECONDS / work->unit : 1;
  return units < 1 ? 1 : units > LONGEST_SKIP ? LONGEST_SKIP : (int64_t)units;
}

/* What the leader says, and what all find: word is an error of a member. */
static int conclude(rg_balancer b, const int64_t words[5], int error, rgi_decision *next) {
  char *kept = error ? strdupa(rg_error_detail()) : NULL;
  if (words[3])
    return rgi_error((int)words[3], "%s",
                     error == words[3] ? kept : "another member of the group met an error");
  *next = (rgi_decision){words[1], words[2]};
  b->work.skip = (int)words[4];
  if (!words[0])
    return RG_SUCCESS;
  next->kind = RGI_FAIL;
  if (kept)
    rgi_error(error, "%s", kept);
  return fail_by_word(b, words[0]);
}

/* Of the leader: its decision. */
static int lead(rg_balancer b, int (*decide)(rg_balancer b, rgi_decision *d), int error,
                int64_t words[5]) {
  rgi_decision d = {RGI_GO_ON, 0};
  error = error ? error : ask(b);
  words[0] = error_word(b, error);
  int fatal = error ? RG_SUCCESS : decide(b, &d);
  words[1] = d.kind;
  words[2] = d.count;
  words[3] = fatal;
  words[4] = skip_of(&b->work);
  return error ? error : fatal;
}

/* The leader's: the unit is done, by all. What it has made is there from now on. */
static int keep(rg_balancer b) {
  size_t bytes = 0;
  void *memory = NULL;
  if (rgi_leads(b) && b->vault) {
    int error = pack(b, &bytes, &memory);
    const void *state = memory ? memory : b->work.walker.state;
    if (!error)
      error = rgi_vault_keep(b, state, bytes, b->kind.pack || bytes > 0);
    free(memory);
    RGI_TRY(error);
  }
  return b->board && b->work.born.count ? rgi_async_publish(b) : RG_SUCCESS;
}

/* All members know how the unit ended; only the leader's decision is to be told. */
static int unit_alike(rg_balancer b, int error, int (*decide)(rg_balancer b, rgi_decision *d),
                      rgi_decision *next) {
  int64_t words[5] = {0};
  rgi_work *work = &b->work;
  *next = (rgi_decision){RGI_GO_ON, 0};
  if (error) {
    next->kind = RGI_FAIL;
    return rgi_work_fail(b, error, b->rank, NULL);
  }
  work->left = b->kind.left(&work->walker, b->kind.context);
  RGI_TRY(keep(b));
  if (work->left == 0) {
    next->kind = RGI_FINISH;
    return RG_SUCCESS;
  }
  if (--work->skip > 0)
    return RG_SUCCESS;
  if (rgi_leads(b))
    error = lead(b, decide, RG_SUCCESS, words);
  RGI_TRY(rg_bcast(b->crew.own, words, 5, MPI_INT64_T, 0));
  return conclude(b, words, error, next);
}

int rgi_work_unit(rg_balancer b, int (*decide)(rg_balancer b, rgi_decision *d),
                  rgi_decision *next) {
  int64_t words[5] = {0};
  int error = do_unit(b);
  if (b->kind.alike)
    return unit_alike(b, error, decide, next);
  if (rgi_leads(b))
    error = lead(b, decide, error, words);
  else
    words[0] = error_word(b, error);
  RGI_TRY(rg_allreduce(b->crew.own, MPI_IN_PLACE, words, 5, MPI_INT64_T, MPI_MAX));
  if (!words[0] && !words[3])
    RGI_TRY(keep(b));
  return conclude(b, words, error, next);
}

static int note_outcome(rg_balancer b, int error, int rank, const char *text) {
  const rgi_work *work = &b->work;
  size_t bytes = 0;
  void *memory = NULL;
  b->counts.ended = rgi_clock_now();
  if (!rgi_leads(b))
    return RG_SUCCESS;
  if (!error)
    error = pack(b, &bytes, &memory);
  rg_outcome o = {.id = work->walker.id,
                  .error = error,
                  .rank = rgi_survive_first(b, rank),
                  .text = text ? text : "",
                  .done = work->walker.done,
                  .seconds = rgi_clock_now() - work->started,
                  .state = error    ? NULL
                           : memory ? memory
                                    : work->walker.state,
                  .bytes = bytes};
  if (error && !text)
    o.text = strdupa(rg_error_detail());
  error = b->vault ? rgi_vault_end(b, &work->entry, &o) : RG_SUCCESS;
  if (!error)
    error = rgi_outcome_add(b, &o);
  free(memory);
  return error;
}

int rgi_work_finish(rg_balancer b) {
  rg_walker *w = &b->work.walker;
  int failed = 0;
  if (b->kind.finished)
    RGI_TRY(agree(b, of_all(b, CALL(finished, w, b->crew.group, b->kind.context)), &failed));
  if (failed)
    return RG_SUCCESS;
  RGI_TRY(note_outcome(b, RG_SUCCESS, b->crew.ranks[0], NULL));
  rgi_work_leave(b);
  return RG_SUCCESS;
}

int rgi_work_fail(rg_balancer b, int error, int rank, const char *text) {
  if (rgi_survive_trouble(b)) /* a death may be all that was wrong */
    return rgi_error(RG_ERR_PROC_FAILED, "walker %lld: somebody has died",
                     (long long)b->work.walker.id);
  RGI_TRY(note_outcome(b, error, rank, text));
  if (b->board && b->work.born.count)
    RGI_TRY(rgi_async_publish(b));
  rgi_work_leave(b);
  return rgi_crew_renew(b);
}
