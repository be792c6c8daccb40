/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Writing schedules. */
#include "collectives/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/state.h"

static void no_memory(rgi_schedule *s) {
  if (!s->error)
    s->error = rgi_error(RG_ERR_NOMEM, "%s: no memory", s->call);
}

/* Field by field: to clear all of it would take longer than a short operation. */
void rgi_schedule_begin(rgi_schedule *s, rgi_state *state, const char *call, int blocking) {
  s->state = state;
  s->call = call;
  s->blocking = blocking;
  s->tag = rgi_count_operation(state);
  s->steps = s->few;
  s->size = RGI_FEW_STEPS;
  s->count = s->at = 0;
  s->messages = NULL;
  s->peers = NULL;
  s->in_round = s->most = s->have = s->begun = s->ended = 0;
  s->rooms = NULL;
  s->unpack_bytes = 0;
  s->error = RG_SUCCESS;
  s->request.peer = -1;
}

int rgi_schedule_room(rgi_schedule *s) {
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

void rgi_schedule_end(rgi_schedule *s) {
  for (rgi_room *r = s->rooms, *next; r; r = next) {
    next = r->next;
    free(r);
  }
  if (s->steps != s->few)
    free(s->steps);
  free(s->messages);
  free(s->peers);
}

#define ROOM_HEAD ((sizeof(rgi_room) + 63) / 64 * 64)

void *rgi_room_of(rgi_schedule *s, size_t bytes) {
  rgi_room *r = bytes <= SIZE_MAX - 2 * ROOM_HEAD ? malloc(ROOM_HEAD + bytes) : NULL;
  if (!r) {
    no_memory(s);
    return NULL;
  }
  r->next = s->rooms;
  s->rooms = r;
  return (char *)r + ROOM_HEAD;
}

static void add(rgi_schedule *s, rgi_step step) {
  if (s->count == s->size) {
    int size = 2 * s->size;
    rgi_step *old = s->steps == s->few ? NULL : s->steps;
    rgi_step *steps = realloc(old, (size_t)size * sizeof *steps);
    if (!steps) {
      no_memory(s);
      return;
    }
    if (!old)
      memcpy(steps, s->few, sizeof s->few);
    s->steps = steps;
    s->size = size;
  }
  s->steps[s->count++] = step;
}

static void message(rgi_schedule *s, rgi_step step) {
  add(s, step);
  if (++s->in_round > s->most)
    s->most = s->in_round;
}

void rgi_send(rgi_schedule *s, const rgi_team *t, int to, const void *data, size_t bytes) {
  message(s, (rgi_step){RGI_SEND, rgi_team_rank(t, to), NULL, data, bytes});
}

void rgi_receive(rgi_schedule *s, const rgi_team *t, int from, void *data, size_t bytes) {
  message(s, (rgi_step){RGI_RECEIVE, rgi_team_rank(t, from), data, NULL, bytes});
}

void rgi_round(rgi_schedule *s) {
  if (s->in_round)
    add(s, (rgi_step){.kind = RGI_ROUND});
  s->in_round = 0;
}

void rgi_first_of_round(rgi_schedule *s, int n) {
  add(s, (rgi_step){.kind = RGI_ROUND, .peer = n});
}

void rgi_copy(rgi_schedule *s, void *to, const void *from, size_t bytes) {
  if (to != from && bytes)
    add(s, (rgi_step){RGI_COPY, -1, to, from, bytes});
}

void rgi_left(rgi_schedule *s, void *left, void *right, size_t bytes) {
  if (bytes && s->reduction.commutes)
    add(s, (rgi_step){RGI_RIGHT, -1, left, right, bytes});
  else if (bytes)
    add(s, (rgi_step){RGI_LEFT, -1, right, left, bytes});
}

void rgi_right(rgi_schedule *s, const void *left, void *right, size_t bytes) {
  if (bytes)
    add(s, (rgi_step){RGI_RIGHT, -1, right, left, bytes});
}

void rgi_unpack_later(rgi_schedule *s, void *memory, const void *dense, size_t bytes) {
  if (bytes)
    add(s, (rgi_step){RGI_UNPACK, -1, memory, dense, bytes});
}

typedef struct {
  rgi_writer *write;
  void *data;
} part;

void rgi_then(rgi_schedule *s, rgi_writer *write, void *data) {
  part *p = rgi_room_of(s, sizeof *p);
  if (!p)
    return;
  *p = (part){write, data};
  rgi_round(s);
  add(s, (rgi_step){.kind = RGI_THEN, .peer = -1, .to = (char *)p});
}

int rgi_write_more(rgi_schedule *s) {
  const part *p = (part *)(void *)s->steps[s->at].to;
  int rest = s->count - s->at - 1;
  rgi_step *after = rgi_room_of(s, (size_t)rest * sizeof *after);
  if (!after)
    return s->error;
  memcpy(after, s->steps + s->at + 1, (size_t)rest * sizeof *after);
  s->count = s->at + 1;
  p->write(s, p->data);
  rgi_round(s);
  for (int i = 0; i < rest; i++)
    add(s, after[i]);
  return s->error == RG_ERR_NOMEM ? s->error : rgi_schedule_room(s);
}

void rgi_inside(rgi_schedule *s, rgi_step_kind kind, int root, const void *from, void *to,
                size_t bytes) {
  add(s, (rgi_step){kind, root, to, from, bytes});
}
