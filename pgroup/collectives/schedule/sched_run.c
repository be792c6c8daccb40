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
#include "collectives/schedule/coll_state.h"
#include "collectives/schedule/sched.h"
#include "formation/group.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "shm/failure.h"
#include "shm/node.h"

static int world_rank(const rgi_sched *sched, int peer) {
  return rgi_members_at(sched->coll->members, peer);
}

static int begin_message(rgi_sched *sched, const rgi_sched_step *step) {
  rgi_message *message = &sched->messages[sched->begun];
  rgi_message_envelope envelope = {.context = sched->coll->context,
                                   .peer = world_rank(sched, step->peer),
                                   .tag = sched->tag,
                                   .bytes = step->bytes};
  int error;
  sched->peers[sched->begun] = sched->at;
  if (step->kind == RGI_SCHED_SEND)
    error = rgi_message_send_surely(&envelope, step->from, message);
  else
    error = rgi_message_receive(&envelope, step->to, message);
  if (!error)
    sched->begun++;
  return error;
}

/* The operation goes on to its end with this error. */
static void note_error(rgi_sched *sched, int error) {
  sched->error = error;
  sched->text = strdup(rg_error_detail());
}

static int noted_error(const rgi_sched *sched) {
  return sched->error && sched->text ? rgi_error(sched->error, "%s", sched->text) : sched->error;
}

void rgi_sched_length_error(rgi_sched *sched, int rank, size_t sent, size_t expected) {
  if (!sched->error)
    note_error(sched,
               rgi_error(sent > expected ? RG_ERR_TRUNCATE : RG_ERR_MISMATCH,
                         "%s: rank %d of the group sent %zu bytes where rank %d expects %zu: "
                         "counts and types should agree",
                         sched->call, rank, sent, sched->coll->all.me, expected));
}

/* Notes an error of a message, or a length that is not the expected one. */
static void check_length(rgi_sched *sched, const rgi_message *message, const rgi_sched_step *step) {
  if (sched->error ||
      (!message->error && (step->kind == RGI_SCHED_SEND || message->bytes == step->bytes)))
    return;
  if (message->error && message->error != RG_ERR_TRUNCATE) {
    note_error(sched, rgi_message_explain(message, sched->call));
    return;
  }
  rgi_sched_length_error(sched, step->peer, message->bytes, step->bytes);
}

static int round_is_over(rgi_sched *sched, int first) {
  for (int n = first ? first : sched->begun; sched->ended < n; sched->ended++) {
    const rgi_sched_step *step = &sched->steps[sched->peers[sched->ended]];
    if (!sched->messages[sched->ended].done) {
      sched->request.peer = world_rank(sched, step->peer);
      return 0;
    }
    check_length(sched, &sched->messages[sched->ended], step);
  }
  if (!first)
    sched->begun = sched->ended = 0;
  return 1;
}

static int run_shm_reduce(const rgi_sched *sched, const rgi_sched_step *step) {
  const rgi_datatype *datatype = &sched->reduction.datatype;
  rgi_node_coll_reduction reduction = {.in = step->from,
                                       .out = step->to,
                                       .count = datatype->size ? step->bytes / datatype->size : 0,
                                       .size = datatype->size,
                                       .type = datatype->type,
                                       .op = sched->reduction.op,
                                       .whole = sched->reduction.whole,
                                       .root = step->peer,
                                       .call = sched->call,
                                       .way = step->way};
  return step->kind == RGI_SCHED_SHM_REDUCE
             ? rgi_node_coll_reduce(sched->coll->state, &reduction)
             : rgi_node_coll_reduce_scatter(sched->coll->state, &reduction);
}

static int run_in_memory(const rgi_sched *sched, const rgi_sched_step *step) {
  if (step->bytes == 0 && step->kind != RGI_SCHED_SHM_BARRIER)
    return RG_SUCCESS;
  rgi_shared_state *state = sched->coll->state;
  rgi_node_coll_blocks blocks = {.in = step->from,
                                 .out = step->to,
                                 .bytes = step->bytes,
                                 .root = step->peer,
                                 .call = sched->call,
                                 .way = step->way};
  switch (step->kind) {
  case RGI_SCHED_SHM_BARRIER:
    return rgi_node_coll_barrier(state, sched->call);
  case RGI_SCHED_SHM_BCAST:
    return rgi_node_coll_bcast(state, step->way, step->to, step->bytes, step->peer, sched->call);
  case RGI_SCHED_SHM_REDUCE:
  case RGI_SCHED_SHM_REDUCE_SCATTER:
    return run_shm_reduce(sched, step);
  case RGI_SCHED_SHM_GATHER:
    return rgi_node_coll_gather(state, &blocks);
  case RGI_SCHED_SHM_SCATTER:
    return rgi_node_coll_scatter(state, &blocks);
  default:
    return rgi_node_coll_alltoall(state, &blocks);
  }
}

static int run_step(rgi_sched *sched, const rgi_sched_step *step) {
  switch (step->kind) {
  case RGI_SCHED_SEND:
  case RGI_SCHED_RECEIVE:
    return begin_message(sched, step);
  case RGI_SCHED_COPY:
    rgi_copy_block(step->to, step->from, step->bytes);
    return RG_SUCCESS;
  case RGI_SCHED_UNPACK:
    return rgi_datatype_unpack_bytes(&sched->datatype, step->from, step->bytes, step->to);
  case RGI_SCHED_REDUCE_RIGHT:
    return rgi_reduction_apply(&sched->reduction, step->from, step->to, step->bytes);
  case RGI_SCHED_REDUCE_LEFT: { /* to: right, spoilt; from: left, where the result goes */
    void *left;
    memcpy(&left, &step->from, sizeof left);
    RGI_TRY(rgi_reduction_apply(&sched->reduction, left, step->to, step->bytes));
    rgi_copy_block(left, step->to, step->bytes);
    return RG_SUCCESS;
  }
  case RGI_SCHED_CONTINUE:
    return rgi_sched_run_continuation(sched);
  default:
    return run_in_memory(sched, step);
  }
}

/* Runs steps until a round is not over or all are done. Returns only errors that end the
 * operation at once. */
static int advance_schedule(rgi_sched *sched, int *done) {
  for (; sched->at < sched->count; sched->at++) {
    const rgi_sched_step *step = &sched->steps[sched->at];
    if (step->kind != RGI_SCHED_END_ROUND)
      RGI_TRY(run_step(sched, step));
    else if (!round_is_over(sched, step->peer))
      return RG_SUCCESS;
  }
  *done = 1;
  return RG_SUCCESS;
}

/* Ends the last round and allocates messages. */
static int prepare_to_run(rgi_sched *sched) {
  rgi_sched_end_round(sched);
  return sched->error ? sched->error : rgi_sched_alloc_requests(sched);
}

/* Gives up a schedule. The buffers are not freed if MPI still uses them. */
static void abandon_schedule(rgi_sched *sched) {
  int left = 0;
  for (int i = sched->ended; i < sched->begun; i++) {
    if (!sched->messages[i].done)
      rgi_message_abandon(&sched->messages[i]);
    left |= sched->messages[i].left;
  }
  if (left)
    sched->buffers = NULL;
  rgi_sched_free(sched);
}

/* A wait on other nodes is long: some of the looks in vain suffice. */
#define LOOKS 8

static int look_at_group(rgi_sched *sched, int look) {
  return look % LOOKS ? RG_SUCCESS : rgi_coll_failure_look(sched->coll, sched->call);
}

static int end_failed(rgi_sched *sched, int error) {
  int found = rgi_coll_failure_check(sched->coll, sched->call);
  error = found ? found : rgi_coll_failure_tell(sched->coll, sched->call, error);
  abandon_schedule(sched);
  return error;
}

/* By a member that has given up a message when it had told of its error. */
static int was_given_up(rgi_sched *sched, int error) {
  return error == RG_ERR_TIMEOUT && rgi_coll_failure_look(sched->coll, sched->call);
}

int rgi_sched_run(rgi_sched *sched) {
  rgi_wait wait;
  int error = rgi_coll_failure_check(sched->coll, sched->call), done = 0, started = 0;
  if (!error)
    error = prepare_to_run(sched);
  while (!error) {
    uint32_t bell = atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
    if (started)
      error = rgi_requests_progress_all();
    if (!error)
      error = advance_schedule(sched, &done);
    if (error || done)
      break;
    if (!started) { /* the bell may have rung before the first messages were sent */
      started = 1;
      rgi_wait_start(&wait, sched->call, sched->request.peer);
      wait.alone = 1;
      continue;
    }
    wait.peer = sched->request.peer;
    error = look_at_group(sched, started++);
    if (!error)
      error =
          rgi_wait_bell(&wait, rgi_node_bell(), bell, !rgi_progress_busy() && !rgi_requests_busy());
  }
  if (error)
    return end_failed(sched, error);
  error = noted_error(sched);
  if (was_given_up(sched, error))
    return end_failed(sched, error);
  error = rgi_failure_cause(&rgi_failure_scope_now, error, sched->call);
  rgi_sched_free(sched);
  return error;
}

/* --- as a request --------------------------------------------------------------------- */

/* The request has ended when all have been told. */
static int tell_others(rgi_sched *sched, int *done) {
  *done = rgi_coll_failure_progress(sched->coll, &sched->word);
  return *done ? noted_error(sched) : RG_SUCCESS;
}

static int progress_request(rg_request request, int *done) {
  rgi_sched *sched = (rgi_sched *)request;
  if (sched->telling)
    return tell_others(sched, done);
  int error = advance_schedule(sched, done);
  if (!error && !*done)
    return look_at_group(sched, sched->looks++);
  if (!error) {
    error = noted_error(sched);
    return was_given_up(sched, error) ? rgi_coll_failure_look(sched->coll, sched->call) : error;
  }
  sched->word.number = (uint32_t)sched->tag + 1;
  sched->telling = rgi_coll_failure_begin(sched->coll, &sched->word, error);
  if (!sched->telling)
    return error;
  if (!sched->error)
    note_error(sched, error);
  return tell_others(sched, done);
}

static void release_request(rg_request request) {
  rgi_sched *sched = (rgi_sched *)request;
  if (sched->telling && !sched->word.message.done)
    rgi_message_abandon(&sched->word.message);
  if (sched->at < sched->count)
    abandon_schedule(sched);
  else
    rgi_sched_free(sched);
  rgi_coll_drop(sched->coll);
  free(sched);
}

int rgi_sched_start(rgi_sched *sched, rg_request *request) {
  int error = prepare_to_run(sched), done = 0;
  if (!error)
    error = advance_schedule(sched, &done);
  if (error) {
    error = end_failed(sched, error);
    free(sched);
    return error;
  }
  sched->request.call = sched->call;
  sched->request.progress = progress_request;
  sched->request.release = release_request;
  sched->request.background = 1;
  rgi_coll_share(sched->coll);
  rgi_request_open(&sched->request);
  *request = &sched->request;
  return RG_SUCCESS;
}
