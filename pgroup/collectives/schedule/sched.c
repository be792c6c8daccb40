/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Writing schedules: appending steps, and the memory of a schedule. The first steps lie in the
 * schedule itself, so that a short operation allocates nothing. */
#include "collectives/schedule/sched.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/schedule/coll_state.h"

static void no_memory(rgi_sched *sched) {
  if (!sched->error)
    sched->error = rgi_error(RG_ERR_NOMEM, "%s: no memory", sched->call);
}

/* Field by field: to clear all of it would take longer than a short operation. */
void rgi_sched_init(rgi_sched *sched, rgi_coll *coll, const char *call, int blocking) {
  sched->coll = coll;
  sched->call = call;
  sched->blocking = blocking;
  sched->tag = rgi_coll_next_tag(coll);
  sched->steps = sched->inline_steps;
  sched->size = RGI_SCHED_INLINE_STEPS;
  sched->count = sched->at = 0;
  sched->messages = NULL;
  sched->peers = NULL;
  sched->in_round = sched->most = sched->have = sched->begun = sched->ended = 0;
  sched->buffers = NULL;
  sched->unpack_bytes = 0;
  sched->looks = 0;
  sched->telling = 0;
  sched->error = RG_SUCCESS;
  sched->text = NULL;
  sched->request.peer = -1;
}

int rgi_sched_alloc_requests(rgi_sched *sched) {
  if (sched->most <= sched->have)
    return RG_SUCCESS;
  free(sched->messages);
  free(sched->peers);
  sched->messages = malloc((size_t)sched->most * sizeof *sched->messages);
  sched->peers = malloc((size_t)sched->most * sizeof *sched->peers);
  sched->have = sched->most;
  return sched->messages && sched->peers
             ? RG_SUCCESS
             : rgi_error(RG_ERR_NOMEM, "%s: no memory for %d messages", sched->call, sched->most);
}

void rgi_sched_free(rgi_sched *sched) {
  for (rgi_sched_buffer *r = sched->buffers, *next; r; r = next) {
    next = r->next;
    free(r);
  }
  if (sched->steps != sched->inline_steps)
    free(sched->steps);
  free(sched->messages);
  free(sched->peers);
  free(sched->text);
}

#define BUFFER_HEAD ((sizeof(rgi_sched_buffer) + 63) / 64 * 64)

void *rgi_sched_alloc(rgi_sched *sched, size_t bytes) {
  rgi_sched_buffer *r = bytes <= SIZE_MAX - 2 * BUFFER_HEAD ? malloc(BUFFER_HEAD + bytes) : NULL;
  if (!r) {
    no_memory(sched);
    return NULL;
  }
  r->next = sched->buffers;
  sched->buffers = r;
  return (char *)r + BUFFER_HEAD;
}

rgi_sched_step *rgi_sched_next(rgi_sched *sched) {
  if (sched->count == sched->size) {
    int size = 2 * sched->size;
    rgi_sched_step *old = sched->steps == sched->inline_steps ? NULL : sched->steps;
    rgi_sched_step *steps = realloc(old, (size_t)size * sizeof *steps);
    if (!steps) {
      no_memory(sched);
      return NULL;
    }
    if (!old)
      memcpy(steps, sched->inline_steps, sizeof sched->inline_steps);
    sched->steps = steps;
    sched->size = size;
  }
  return &sched->steps[sched->count++];
}

static void add_message(rgi_sched *sched, rgi_sched_step step) {
  rgi_sched_add(sched, step);
  if (++sched->in_round > sched->most)
    sched->most = sched->in_round;
}

void rgi_sched_send(rgi_sched *sched, const rgi_subgroup *subgroup, int to, const void *data,
                    size_t bytes) {
  add_message(sched, (rgi_sched_step){.kind = RGI_SCHED_SEND,
                                      .peer = rgi_subgroup_rank(subgroup, to),
                                      .from = data,
                                      .bytes = bytes});
}

void rgi_sched_receive(rgi_sched *sched, const rgi_subgroup *subgroup, int from, void *data,
                       size_t bytes) {
  add_message(sched, (rgi_sched_step){.kind = RGI_SCHED_RECEIVE,
                                      .peer = rgi_subgroup_rank(subgroup, from),
                                      .to = data,
                                      .bytes = bytes});
}

void rgi_sched_end_round(rgi_sched *sched) {
  if (sched->in_round)
    rgi_sched_add(sched, (rgi_sched_step){.kind = RGI_SCHED_END_ROUND});
  sched->in_round = 0;
}

void rgi_sched_await_first(rgi_sched *sched, int n) {
  rgi_sched_add(sched, (rgi_sched_step){.kind = RGI_SCHED_END_ROUND, .peer = n});
}

static rgi_sched_step local_step(rgi_sched_step_kind kind, void *to, const void *from,
                                 size_t bytes) {
  return (rgi_sched_step){.kind = kind, .peer = -1, .to = to, .from = from, .bytes = bytes};
}

void rgi_sched_copy(rgi_sched *sched, void *to, const void *from, size_t bytes) {
  if (to != from && bytes)
    rgi_sched_add(sched, local_step(RGI_SCHED_COPY, to, from, bytes));
}

void rgi_sched_reduce_left(rgi_sched *sched, void *left, void *right, size_t bytes) {
  if (bytes && sched->reduction.commutes)
    rgi_sched_add(sched, local_step(RGI_SCHED_REDUCE_RIGHT, left, right, bytes));
  else if (bytes)
    rgi_sched_add(sched, local_step(RGI_SCHED_REDUCE_LEFT, right, left, bytes));
}

void rgi_sched_reduce_right(rgi_sched *sched, const void *left, void *right, size_t bytes) {
  if (bytes)
    rgi_sched_add(sched, local_step(RGI_SCHED_REDUCE_RIGHT, right, left, bytes));
}

void rgi_sched_unpack(rgi_sched *sched, void *memory, const void *dense, size_t bytes) {
  if (bytes)
    rgi_sched_add(sched, local_step(RGI_SCHED_UNPACK, memory, dense, bytes));
}

typedef struct {
  rgi_sched_writer *write;
  void *data;
} continuation;

void rgi_sched_continue(rgi_sched *sched, rgi_sched_writer *write, void *data) {
  continuation *p = rgi_sched_alloc(sched, sizeof *p);
  if (!p)
    return;
  *p = (continuation){write, data};
  rgi_sched_end_round(sched);
  rgi_sched_add(sched, (rgi_sched_step){.kind = RGI_SCHED_CONTINUE, .peer = -1, .to = p});
}

int rgi_sched_run_continuation(rgi_sched *sched) {
  const continuation *p = sched->steps[sched->at].to;
  int rest = sched->count - sched->at - 1;
  rgi_sched_step *after = rgi_sched_alloc(sched, (size_t)rest * sizeof *after);
  if (!after)
    return sched->error;
  memcpy(after, sched->steps + sched->at + 1, (size_t)rest * sizeof *after);
  sched->count = sched->at + 1;
  p->write(sched, p->data);
  rgi_sched_end_round(sched);
  for (int i = 0; i < rest; i++)
    rgi_sched_add(sched, after[i]);
  return sched->error == RG_ERR_NOMEM ? sched->error : rgi_sched_alloc_requests(sched);
}
