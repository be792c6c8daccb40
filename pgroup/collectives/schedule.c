/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Writing schedules. */
#include "collectives/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/state.h"
#include "runtime/error.h"

static void no_memory(rgi_schedule *s) {
  if (!s->error)
    s->error = rgi_error(RG_ERR_NOMEM, "%s: no memory", s->call);
}

rgi_schedule *rgi_schedule_new(rgi_state *state, const char *call, int blocking) {
  rgi_schedule *s = state->spare;
  state->spare = NULL;
  if (!s && !(s = calloc(1, sizeof *s)))
    return NULL;
  s->state = state;
  s->call = call;
  s->blocking = blocking;
  s->tag = state->sequence;
  state->sequence = (state->sequence + 1) & ((1 << 30) - 1);
  s->count = s->at = 0;
  s->in_round = s->most = s->begun = s->ended = 0;
  s->unpack_bytes = 0;
  s->error = RG_SUCCESS;
  return s;
}

static void drop(rgi_schedule *s) {
  free(s->steps);
  free(s->messages);
  free(s->peers);
  free(s);
}

/* A schedule that was not too large is kept for the next operation. */
void rgi_schedule_free(rgi_schedule *s) {
  for (rgi_room *r = s->rooms, *next; r; r = next) {
    next = r->next;
    free(r);
  }
  s->rooms = NULL;
  if (!s->blocking || s->state->spare || s->size > 64)
    drop(s);
  else
    s->state->spare = s;
}

void rgi_schedule_drop_spare(rgi_state *state) {
  if (state->spare)
    drop(state->spare);
  state->spare = NULL;
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
    int size = s->size ? 2 * s->size : 16;
    rgi_step *steps = realloc(s->steps, (size_t)size * sizeof *steps);
    if (!steps) {
      no_memory(s);
      return;
    }
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

void rgi_inside(rgi_schedule *s, rgi_step_kind kind, int root, const void *from, void *to,
                size_t bytes) {
  add(s, (rgi_step){kind, root, to, from, bytes});
}
