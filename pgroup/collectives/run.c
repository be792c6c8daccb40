/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Running schedules. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/local.h"
#include "collectives/schedule.h"
#include "collectives/state.h"
#include "formation/group.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "shm/failure.h"
#include "shm/node.h"

static int world_rank(const rgi_schedule *s, int peer) {
  return rgi_members_at(s->state->group->members, peer);
}

static int begin_message(rgi_schedule *s, const rgi_step *step) {
  rgi_request *r = &s->messages[s->begun];
  int peer = world_rank(s, step->peer), error;
  s->peers[s->begun] = s->at;
  if (step->kind == RGI_SEND)
    error = rgi_message_send(s->state->context, peer, s->tag, step->from, step->bytes, r);
  else
    error = rgi_message_receive(s->state->context, peer, s->tag, step->to, step->bytes, r);
  if (!error)
    s->begun++;
  return error;
}

void rgi_wrong_length(rgi_schedule *s, int rank, size_t sent, size_t expected) {
  if (!s->error)
    s->error = rgi_error(sent > expected ? RG_ERR_TRUNCATE : RG_ERR_MISMATCH,
                         "%s: rank %d of the group sent %zu bytes where rank %d expects %zu: "
                         "counts and types should agree",
                         s->call, rank, sent, s->state->group->me, expected);
}

/* A message may have come that is not what was expected. */
static void check_length(rgi_schedule *s, const rgi_request *r, const rgi_step *step) {
  if (s->error || (!r->error && (step->kind == RGI_SEND || r->bytes == step->bytes)))
    return;
  if (r->error && r->error != RG_ERR_TRUNCATE) {
    s->error = rgi_message_explain(r, s->call);
    return;
  }
  rgi_wrong_length(s, step->peer, r->bytes, step->bytes);
}

static int round_is_over(rgi_schedule *s, int first) {
  for (int n = first ? first : s->begun; s->ended < n; s->ended++) {
    const rgi_step *step = &s->steps[s->peers[s->ended]];
    if (!s->messages[s->ended].done) {
      s->request.peer = world_rank(s, step->peer);
      return 0;
    }
    check_length(s, &s->messages[s->ended], step);
  }
  if (!first)
    s->begun = s->ended = 0;
  return 1;
}

static int inside_step(rgi_schedule *s, const rgi_step *step) {
  rgi_local *l = s->state->local;
  const rgi_reduction *r = &s->reduction;
  size_t count = r->typed.size ? step->bytes / r->typed.size : 0;
  switch (step->kind) {
  case RGI_INSIDE_BARRIER:
    return rgi_local_barrier(l, s->call);
  case RGI_INSIDE_BCAST:
    return rgi_local_bcast(l, step->to, step->bytes, step->peer, s->call);
  case RGI_INSIDE_REDUCE:
    return rgi_local_reduce(l, step->from, step->to, count, r->typed.type, r->op, step->peer,
                            s->call);
  case RGI_INSIDE_ALLREDUCE:
    return rgi_local_allreduce(l, step->from, step->to, count, r->typed.type, r->op, s->call);
  case RGI_INSIDE_GATHER:
    return rgi_local_gather(l, step->from, step->bytes, step->to, step->peer, s->call);
  case RGI_INSIDE_SCATTER:
    return rgi_local_scatter(l, step->from, step->bytes, step->to, step->peer, s->call);
  case RGI_INSIDE_ALLGATHER:
    return rgi_local_allgather(l, step->from, step->bytes, step->to, s->call);
  default:
    return rgi_local_alltoall(l, step->from, step->bytes, step->to, s->call);
  }
}

static int do_step(rgi_schedule *s, rgi_step *step) {
  switch (step->kind) {
  case RGI_SEND:
  case RGI_RECEIVE:
    return begin_message(s, step);
  case RGI_COPY:
    memcpy(step->to, step->from, step->bytes);
    return RG_SUCCESS;
  case RGI_UNPACK:
    return rgi_unpack(&s->typed, step->from, step->bytes / s->typed.size, step->to);
  case RGI_RIGHT:
    return rgi_combine(&s->reduction, step->from, step->to, step->bytes);
  case RGI_LEFT: { /* to: right, spoilt; from: left, where the result goes */
    char *left;
    memcpy(&left, &step->from, sizeof left);
    RGI_TRY(rgi_combine(&s->reduction, left, step->to, step->bytes));
    memcpy(left, step->to, step->bytes);
    return RG_SUCCESS;
  }
  case RGI_THEN:
    return rgi_write_more(s);
  default:
    return inside_step(s, step);
  }
}

/* Goes as far as it can. An error is one that ends the operation at once. */
static int move_on(rgi_schedule *s, int *done) {
  for (; s->at < s->count; s->at++) {
    rgi_step *step = &s->steps[s->at];
    if (step->kind != RGI_ROUND)
      RGI_TRY(do_step(s, step));
    else if (!round_is_over(s, step->peer))
      return RG_SUCCESS;
  }
  *done = 1;
  return RG_SUCCESS;
}

/* The last round, and room for the messages of one. */
static int make_ready(rgi_schedule *s) {
  rgi_round(s);
  return s->error ? s->error : rgi_schedule_room(s);
}

/* Ends a schedule before its time. A long message to another node may still be
 * read: then its memory stays. */
static void give_up(rgi_schedule *s) {
  int read = 0;
  for (int i = s->ended; i < s->begun; i++) {
    read |= !s->messages[i].done && s->steps[s->peers[i]].kind == RGI_SEND;
    if (!s->messages[i].done)
      rgi_message_abandon(&s->messages[i]);
  }
  if (read)
    s->rooms = NULL;
  rgi_schedule_end(s);
}

int rgi_schedule_run(rgi_schedule *s) {
  rgi_wait w;
  int error = make_ready(s), done = 0, started = 0;
  while (!error) {
    uint32_t bell = atomic_load_explicit(&rgi_my_bell()->value, memory_order_acquire);
    if (started)
      error = rgi_progress_all();
    if (!error)
      error = move_on(s, &done);
    if (error || done)
      break;
    if (!started) { /* the bell may have rung before the first messages were sent */
      started = 1;
      rgi_wait_start(&w, s->call, s->request.peer);
      continue;
    }
    w.peer = s->request.peer;
    error = rgi_wait_bell(&w, rgi_my_bell(), bell, !rgi_progress_busy() && !rgi_requests_busy());
  }
  if (error) {
    give_up(s);
    return error;
  }
  error = rgi_scope_cause(&rgi_scope_now, s->error, s->call);
  rgi_schedule_end(s);
  return error;
}

/* --- by itself ------------------------------------------------------------------------ */

static int progress(rg_request request, int *done) {
  rgi_schedule *s = (rgi_schedule *)request;
  RGI_TRY(move_on(s, done));
  return *done ? s->error : RG_SUCCESS;
}

static void release(rg_request request) {
  rgi_schedule *s = (rgi_schedule *)request;
  if (s->at < s->count)
    give_up(s);
  else
    rgi_schedule_end(s);
  free(s);
}

int rgi_schedule_start(rgi_schedule *s, rg_request *request) {
  int error = make_ready(s), done = 0;
  if (!error)
    error = move_on(s, &done);
  if (error) {
    give_up(s);
    free(s);
    return error;
  }
  s->request.call = s->call;
  s->request.progress = progress;
  s->request.release = release;
  s->request.background = 1;
  rgi_request_open(&s->request);
  *request = &s->request;
  return RG_SUCCESS;
}
