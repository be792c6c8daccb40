/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A version is written into blocks of its own, which are kept for the versions after it. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "shm/arena.h"
#include "walkers/store/record.h"
#include "walkers/team/outcome_list.h"
#include "walkers/team/queue.h"

rgi_record_version *rgi_record_begin(rgi_record *r) {
  rgi_record_version *v = rgi_record_next(r), kept = *v;
  atomic_store(&r->prepared, 0);
  *v = *rgi_record_current(r);
  v->state = kept.state;
  v->room = kept.room;
  v->text = kept.text;
  v->has = 0;
  return v;
}

int rgi_record_set_state(rgi_record_version *v, const void *state, size_t bytes) {
  if (v->state && v->room < bytes) {
    rgi_arena_free(v->state, v->room);
    v->state = 0;
  }
  if (!v->state) {
    RGI_TRY(rgi_arena_alloc("the state of a walker", bytes ? bytes : 1, &v->state));
    v->room = bytes ? bytes : 1;
  }
  if (bytes)
    memcpy(rgi_arena_at(v->state), state, bytes);
  v->bytes = bytes;
  v->has = 1;
  return RG_SUCCESS;
}

int rgi_record_set_text(rgi_record_version *v, const char *text) {
  if (!*text)
    return RG_SUCCESS;
  if (!v->text)
    RGI_TRY(rgi_arena_alloc("what was wrong", RGI_OUTCOME_TEXT, &v->text));
  snprintf(rgi_arena_at(v->text), RGI_OUTCOME_TEXT, "%s", text);
  return RG_SUCCESS;
}

void rgi_record_switch(rgi_record *r) {
  atomic_fetch_add(&r->now, 1);
}

int rgi_record_fill(rgi_record *r, const rgi_queue_entry *e, uint64_t key, int run) {
  memset(r, 0, sizeof *r);
  r->key = key;
  r->id = e->id;
  r->least = e->least;
  r->most = e->most;
  r->unit = e->unit;
  r->home = -1;
  r->version[0].left = e->left;
  r->version[0].met = e->met;
  r->version[0].run = run;
  return e->memory ? rgi_record_set_state(&r->version[0], e->memory, e->bytes) : RG_SUCCESS;
}
