/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Running schedules: advance_schedule goes on until a round is not over yet. A blocking call
 * repeats it in a polite wait; a request is advanced by whatever the process waits for. */
#include <stdlib.h>
#include <string.h>

#include "base/copy.h"
#include "base/error.h"
#include "collectives/node/node_coll.h"
#include "collectives/schedule/coll_failure.h"
#include "collectives/schedule/sched.h"
#include "formation/group.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "shm/failure.h"
#include "shm/node.h"

static int world_rank(const rgi_sched *s, int peer) {
  return rgi_members_at(s->coll->members, peer);
}

static int begin_message(rgi_sched *s, const rgi_sched_step *step) {
  rgi_message *r = &s->messages[s->begun];
  rgi_message_envelope e = {s->coll->context, world_rank(s, step->peer), s->tag, step->bytes};
  int error;
  s->peers[s->begun] = s->at;
  if (step->kind == RGI_SCHED_SEND)
    error = rgi_message_send_surely(&e, step->from, r);
  else
    error = rgi_message_receive(&e, step->to, r);
  if (!error)
    s->begun++;
  return error;
}

/* The operation goes on to its end with this error. */
static void note_error(rgi_sched *s, int error) {
  s->error = error;
  s->text = strdup(rg_error_detail());
}

static int noted_error(const rgi_sched *s) {
  return s->error && s->text ? rgi_error(s->error, "%s", s->text) : s->error;
}

void rgi_sched_length_error(rgi_sched *s, int rank, size_t sent, size_t expected) {
  if (!s->error)
    note_error(s, rgi_error(sent > expected ? RG_ERR_TRUNCATE : RG_ERR_MISMATCH,
                            "%s: rank %d of the group sent %zu bytes where rank %d expects %zu: "
                            "counts and types should agree",
                            s->call, rank, sent, s->coll->all.me, expected));
}

/* Notes an error of a message, or a length that is not the expected one. */
static void check_length(rgi_sched *s, const rgi_message *r, const rgi_sched_step *step) {
  if (s->error || (!r->error && (step->kind == RGI_SCHED_SEND || r->bytes == step->bytes)))
    return;
  if (r->error && r->error != RG_ERR_TRUNCATE) {
    note_error(s, rgi_message_explain(r, s->call));
    return;
  }
  rgi_sched_length_error(s, step->peer, r->bytes, step->bytes);
}

static int round_is_over(rgi_sched *s, int first) {
  for (int n = first ? first : s->begun; s->ended < n; s->ended++) {
    const rgi_sched_step *step = &s->steps[s->peers[s->ended]];
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

static int run_shm_reduce(const rgi_sched *s, const rgi_sched_step *step) {
  const rgi_datatype *t = &s->reduction.datatype;
  rgi_node_coll_reduction r = {.in = step->from,
                               .out = step->to,
                               .count = t->size ? step->bytes / t->size : 0,
                               .size = t->size,
                               .type = t->type,
                               .op = s->reduction.op,
                               .whole = s->reduction.whole,
                               .root = step->peer,
                               .call = s->call};
  return step->kind == RGI_SCHED_SHM_REDUCE ? rgi_node_coll_reduce(s->coll->state, &r)
                                            : rgi_node_coll_reduce_scatter(s->coll->state, &r);
}

static int run_in_memory(const rgi_sched *s, const rgi_sched_step *step) {
  if (step->bytes == 0 && step->kind != RGI_SCHED_SHM_BARRIER)
    return RG_SUCCESS;
  rgi_shared_state *l = s->coll->state;
  rgi_node_coll_blocks b = {step->from, step->to, step->bytes, step->peer, s->call};
  switch (step->kind) {
  case RGI_SCHED_SHM_BARRIER:
    return rgi_node_coll_barrier(l, s->call);
  case RGI_SCHED_SHM_BCAST:
    return rgi_node_coll_bcast(l, step->to, step->bytes, step->peer, s->call);
  case RGI_SCHED_SHM_REDUCE:
  case RGI_SCHED_SHM_REDUCE_SCATTER:
    return run_shm_reduce(s, step);
  case RGI_SCHED_SHM_GATHER:
    return rgi_node_coll_gather(l, &b);
  case RGI_SCHED_SHM_SCATTER:
    return rgi_node_coll_scatter(l, &b);
  default:
    return rgi_node_coll_alltoall(l, &b);
  }
}

static int run_step(rgi_sched *s, const rgi_sched_step *step) {
  switch (step->kind) {
  case RGI_SCHED_SEND:
  case RGI_SCHED_RECEIVE:
    return begin_message(s, step);
  case RGI_SCHED_COPY:
    rgi_copy_block(step->to, step->from, step->bytes);
    return RG_SUCCESS;
  case RGI_SCHED_UNPACK:
    return rgi_datatype_unpack_bytes(&s->datatype, step->from, step->bytes, step->to);
  case RGI_SCHED_REDUCE_RIGHT:
    return rgi_reduction_apply(&s->reduction, step->from, step->to, step->bytes);
  case RGI_SCHED_REDUCE_LEFT: { /* to: right, spoilt; from: left, where the result goes */
    void *left;
    memcpy(&left, &step->from, sizeof left);
    RGI_TRY(rgi_reduction_apply(&s->reduction, left, step->to, step->bytes));
    rgi_copy_block(left, step->to, step->bytes);
    return RG_SUCCESS;
  }
  case RGI_SCHED_CONTINUE:
    return rgi_sched_run_continuation(s);
  default:
    return run_in_memory(s, step);
  }
}

/* Runs steps until a round is not over or all are done. Returns only errors that end the
 * operation at once. */
static int advance_schedule(rgi_sched *s, int *done) {
  for (; s->at < s->count; s->at++) {
    const rgi_sched_step *step = &s->steps[s->at];
    if (step->kind != RGI_SCHED_END_ROUND)
      RGI_TRY(run_step(s, step));
    else if (!round_is_over(s, step->peer))
      return RG_SUCCESS;
  }
  *done = 1;
  return RG_SUCCESS;
}

/* Ends the last round and allocates messages. */
static int prepare_to_run(rgi_sched *s) {
  rgi_sched_end_round(s);
  return s->error ? s->error : rgi_sched_alloc_requests(s);
}

/* Gives up a schedule. The buffers are not freed if MPI still uses them. */
static void abandon_schedule(rgi_sched *s) {
  int left = 0;
  for (int i = s->ended; i < s->begun; i++) {
    if (!s->messages[i].done)
      rgi_message_abandon(&s->messages[i]);
    left |= s->messages[i].left;
  }
  if (left)
    s->buffers = NULL;
  rgi_sched_free(s);
}

/* A wait on other nodes is long: some of the looks in vain suffice. */
#define LOOKS 8

static int look_at_group(rgi_sched *s, int look) {
  return look % LOOKS ? RG_SUCCESS : rgi_coll_failure_look(s->coll, s->call);
}

static int end_failed(rgi_sched *s, int error) {
  int found = rgi_coll_failure_check(s->coll, s->call);
  error = found ? found : rgi_coll_failure_tell(s->coll, s->call, error);
  abandon_schedule(s);
  return error;
}

int rgi_sched_run(rgi_sched *s) {
  rgi_wait w;
  int error = rgi_coll_failure_check(s->coll, s->call), done = 0, started = 0;
  if (!error)
    error = prepare_to_run(s);
  while (!error) {
    uint32_t bell = atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
    if (started)
      error = rgi_requests_progress_all();
    if (!error)
      error = advance_schedule(s, &done);
    if (error || done)
      break;
    if (!started) { /* the bell may have rung before the first messages were sent */
      started = 1;
      rgi_wait_start(&w, s->call, s->request.peer);
      w.alone = 1;
      continue;
    }
    w.peer = s->request.peer;
    error = look_at_group(s, started++);
    if (!error)
      error =
          rgi_wait_bell(&w, rgi_node_bell(), bell, !rgi_progress_busy() && !rgi_requests_busy());
  }
  if (error)
    return end_failed(s, error);
  error = rgi_failure_cause(&rgi_failure_scope_now, noted_error(s), s->call);
  rgi_sched_free(s);
  return error;
}

/* --- as a request --------------------------------------------------------------------- */

static int progress_request(rg_request request, int *done) {
  rgi_sched *s = (rgi_sched *)request;
  RGI_TRY(advance_schedule(s, done));
  return *done ? noted_error(s) : look_at_group(s, s->looks++);
}

static void release_request(rg_request request) {
  rgi_sched *s = (rgi_sched *)request;
  if (s->at < s->count)
    abandon_schedule(s);
  else
    rgi_sched_free(s);
  rgi_coll_drop(s->coll);
  free(s);
}

int rgi_sched_start(rgi_sched *s, rg_request *request) {
  int error = prepare_to_run(s), done = 0;
  if (!error)
    error = advance_schedule(s, &done);
  if (error) {
    abandon_schedule(s);
    free(s);
    return error;
  }
  s->request.call = s->call;
  s->request.progress = progress_request;
  s->request.release = release_request;
  s->request.background = 1;
  rgi_coll_share(s->coll);
  rgi_request_open(&s->request);
  *request = &s->request;
  return RG_SUCCESS;
}
