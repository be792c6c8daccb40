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

static void no_memory(rgi_sched *s) {
  if (!s->error)
    s->error = rgi_error(RG_ERR_NOMEM, "%s: no memory", s->call);
}

/* Field by field: to clear all of it would take longer than a short operation. */
void rgi_sched_init(rgi_sched *s, rgi_coll *coll, const char *call, int blocking) {
  s->coll = coll;
  s->call = call;
  s->blocking = blocking;
  s->tag = rgi_coll_next_tag(coll);
  s->steps = s->inline_steps;
  s->size = RGI_SCHED_INLINE_STEPS;
  s->count = s->at = 0;
  s->messages = NULL;
  s->peers = NULL;
  s->in_round = s->most = s->have = s->begun = s->ended = 0;
  s->buffers = NULL;
  s->unpack_bytes = 0;
  s->looks = 0;
  s->error = RG_SUCCESS;
  s->text = NULL;
  s->request.peer = -1;
}

int rgi_sched_alloc_requests(rgi_sched *s) {
  if (s->most <= s->have)
    return RG_SUCCESS;
  free(s->messages);
  free(s->peers);
  s->messages = malloc((size_t)s->most * sizeof *s->messages);
  s->peers = malloc((size_t)s->most * sizeof *s->peers);
  s->have = s->most;
  return s->messages && s->peers
             ? RG_SUCCESS
             : rgi_error(RG_ERR_NOMEM, "%s: no memory for %d messages", s->call, s->most);
}

void rgi_sched_free(rgi_sched *s) {
  for (rgi_sched_buffer *r = s->buffers, *next; r; r = next) {
    next = r->next;
    free(r);
  }
  if (s->steps != s->inline_steps)
    free(s->steps);
  free(s->messages);
  free(s->peers);
  free(s->text);
}

#define BUFFER_HEAD ((sizeof(rgi_sched_buffer) + 63) / 64 * 64)

void *rgi_sched_alloc(rgi_sched *s, size_t bytes) {
  rgi_sched_buffer *r = bytes <= SIZE_MAX - 2 * BUFFER_HEAD ? malloc(BUFFER_HEAD + bytes) : NULL;
  if (!r) {
    no_memory(s);
    return NULL;
  }
  r->next = s->buffers;
  s->buffers = r;
  return (char *)r + BUFFER_HEAD;
}

rgi_sched_step *rgi_sched_next(rgi_sched *s) {
  if (s->count == s->size) {
    int size = 2 * s->size;
    rgi_sched_step *old = s->steps == s->inline_steps ? NULL : s->steps;
    rgi_sched_step *steps = realloc(old, (size_t)size * sizeof *steps);
    if (!steps) {
      no_memory(s);
      return NULL;
    }
    if (!old)
      memcpy(steps, s->inline_steps, sizeof s->inline_steps);
    s->steps = steps;
    s->size = size;
  }
  return &s->steps[s->count++];
}

static void add_message(rgi_sched *s, rgi_sched_step step) {
  rgi_sched_add(s, step);
  if (++s->in_round > s->most)
    s->most = s->in_round;
}

void rgi_sched_send(rgi_sched *s, const rgi_subgroup *t, int to, const void *data, size_t bytes) {
  add_message(s, (rgi_sched_step){RGI_SCHED_SEND, rgi_subgroup_rank(t, to), NULL, data, bytes});
}

void rgi_sched_receive(rgi_sched *s, const rgi_subgroup *t, int from, void *data, size_t bytes) {
  add_message(s,
              (rgi_sched_step){RGI_SCHED_RECEIVE, rgi_subgroup_rank(t, from), data, NULL, bytes});
}

void rgi_sched_end_round(rgi_sched *s) {
  if (s->in_round)
    rgi_sched_add(s, (rgi_sched_step){.kind = RGI_SCHED_END_ROUND});
  s->in_round = 0;
}

void rgi_sched_await_first(rgi_sched *s, int n) {
  rgi_sched_add(s, (rgi_sched_step){.kind = RGI_SCHED_END_ROUND, .peer = n});
}

void rgi_sched_copy(rgi_sched *s, void *to, const void *from, size_t bytes) {
  if (to != from && bytes)
    rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_COPY, -1, to, from, bytes});
}

void rgi_sched_reduce_left(rgi_sched *s, void *left, void *right, size_t bytes) {
  if (bytes && s->reduction.commutes)
    rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_REDUCE_RIGHT, -1, left, right, bytes});
  else if (bytes)
    rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_REDUCE_LEFT, -1, right, left, bytes});
}

void rgi_sched_reduce_right(rgi_sched *s, const void *left, void *right, size_t bytes) {
  if (bytes)
    rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_REDUCE_RIGHT, -1, right, left, bytes});
}

void rgi_sched_unpack(rgi_sched *s, void *memory, const void *dense, size_t bytes) {
  if (bytes)
    rgi_sched_add(s, (rgi_sched_step){RGI_SCHED_UNPACK, -1, memory, dense, bytes});
}

typedef struct {
  rgi_sched_writer *write;
  void *data;
} continuation;

void rgi_sched_continue(rgi_sched *s, rgi_sched_writer *write, void *data) {
  continuation *p = rgi_sched_alloc(s, sizeof *p);
  if (!p)
    return;
  *p = (continuation){write, data};
  rgi_sched_end_round(s);
  rgi_sched_add(s, (rgi_sched_step){.kind = RGI_SCHED_CONTINUE, .peer = -1, .to = p});
}

int rgi_sched_run_continuation(rgi_sched *s) {
  const continuation *p = s->steps[s->at].to;
  int rest = s->count - s->at - 1;
  rgi_sched_step *after = rgi_sched_alloc(s, (size_t)rest * sizeof *after);
  if (!after)
    return s->error;
  memcpy(after, s->steps + s->at + 1, (size_t)rest * sizeof *after);
  s->count = s->at + 1;
  p->write(s, p->data);
  rgi_sched_end_round(s);
  for (int i = 0; i < rest; i++)
    rgi_sched_add(s, after[i]);
  return s->error == RG_ERR_NOMEM ? s->error : rgi_sched_alloc_requests(s);
}
