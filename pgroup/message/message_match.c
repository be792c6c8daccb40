/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Matching: receives that no message has met, and messages that nobody has asked
 * for, in the order in which they came. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "message/message_parts.h"

#define BUCKETS 256 /* of contexts */

typedef struct {
  rgi_request *asked, **asked_end;
  rgi_cell *arrived, **arrived_end;
} bucket;

static struct {
  bucket bucket[BUCKETS];
  size_t held; /* bytes of the arena that the arrived ones take */
} matching;

void rgi_match_open(void) {
  memset(&matching, 0, sizeof matching);
  for (int i = 0; i < BUCKETS; i++) {
    matching.bucket[i].asked_end = &matching.bucket[i].asked;
    matching.bucket[i].arrived_end = &matching.bucket[i].arrived;
  }
}

void rgi_match_close(void) {
  for (int i = 0; i < BUCKETS; i++)
    for (rgi_cell *c = matching.bucket[i].arrived, *next; c; c = next) {
      next = c->next;
      if (!c->lines)
        free(c);
    }
}

static bucket *bucket_of(uint64_t context) {
  return &matching.bucket[context % BUCKETS];
}

void rgi_append(rgi_request *r, rgi_request ***end, rgi_message_state state) {
  r->next = NULL;
  r->link = *end;
  **end = r;
  *end = &r->next;
  r->state = state;
}

void rgi_take_out(rgi_request *r, rgi_request ***end) {
  *r->link = r->next;
  if (r->next)
    r->next->link = r->link;
  else if (end)
    *end = r->link;
  r->state = RGI_FRESH;
}

static int fits(const rgi_request *r, const rgi_envelope *e) {
  return r->context == e->context && (r->source == RGI_ANY || r->source == e->source) &&
         (r->tag == RGI_ANY || r->tag == e->tag);
}

/* A message and a request belong together; takes the cell over. */
static void meet(rgi_request *r, rgi_cell *c) {
  r->source = c->envelope.source;
  r->tag = c->envelope.tag;
  r->bytes = c->envelope.bytes;
  if (r->bytes > r->room)
    r->error = RG_ERR_TRUNCATE;
  if (c->kind == RGI_LONG) {
    rgi_pipe_accept(r, c);
  } else if (c->kind == RGI_FAR) {
    rgi_far_accept(r, c);
  } else {
    size_t n = rgi_least(r->bytes, r->room);
    if (n)
      memcpy(r->data, rgi_cell_data(c), n);
    rgi_cell_give(c);
    rgi_finish(r, RG_SUCCESS);
  }
}

static size_t bytes_held(const rgi_cell *c) {
  return c->kind == RGI_SHORT ? (size_t)c->lines * RGI_LINE : 0;
}

/* Messages that nobody asks for may not fill the arena; what comes from other
 * nodes has room for the longest. Without memory the cell stays as it is. */
static rgi_cell *store(rgi_cell *c) {
  size_t bytes = sizeof *c + (c->kind == RGI_SHORT ? c->envelope.bytes : sizeof(rgi_announced));
  rgi_cell *own;
  if (!c->lines) {
    own = realloc(c, bytes);
    return own ? own : c;
  }
  if (matching.held + bytes_held(c) <= rgi_cells_share() || !(own = malloc(bytes)))
    return c;
  memcpy(own, c, bytes);
  own->lines = 0;
  rgi_cell_give(c);
  return own;
}

static void keep(rgi_cell *c) {
  bucket *b = bucket_of(c->envelope.context);
  if (c->kind != RGI_LONG)
    c = store(c);
  matching.held += bytes_held(c);
  c->next = NULL;
  *b->arrived_end = c;
  b->arrived_end = &c->next;
}

static void unkeep(rgi_cell **at) {
  rgi_cell *c = *at;
  bucket *b = bucket_of(c->envelope.context);
  *at = c->next;
  if (b->arrived_end == &c->next)
    b->arrived_end = at;
  matching.held -= bytes_held(c);
}

/* The first arrival that fits, and where it hangs; letters that their senders
 * have withdrawn go. */
static rgi_cell *find_arrived(const rgi_request *r, rgi_cell ***at) {
  *at = &bucket_of(r->context)->arrived;
  while (**at) {
    rgi_cell *c = **at;
    if (!fits(r, &c->envelope)) {
      *at = &c->next;
    } else if (c->kind == RGI_LONG && rgi_pipe_withdrawn(c)) {
      unkeep(*at);
      rgi_pipe_claim(c);
    } else {
      return c;
    }
  }
  return NULL;
}

static rgi_request *find_asked(const rgi_envelope *e) {
  for (rgi_request *r = bucket_of(e->context)->asked; r; r = r->next)
    if (fits(r, e))
      return r;
  return NULL;
}

void rgi_unask(rgi_request *r) {
  rgi_take_out(r, &bucket_of(r->context)->asked_end);
}

void rgi_arrived(rgi_cell *c) {
  rgi_request *r = find_asked(&c->envelope);
  if (!r) {
    keep(c);
  } else if (c->kind != RGI_LONG || rgi_pipe_claim(c)) {
    rgi_unask(r);
    meet(r, c);
  }
}

void rgi_ask(rgi_request *r) {
  rgi_cell **at, *c;
  while ((c = find_arrived(r, &at))) {
    unkeep(at);
    if (c->kind != RGI_LONG || rgi_pipe_claim(c)) {
      meet(r, c);
      return;
    }
  }
  rgi_append(r, &bucket_of(r->context)->asked_end, RGI_ASKED);
}

void rgi_match_whole(const rgi_envelope *e) {
  for (rgi_cell *c = bucket_of(e->context)->arrived; c; c = c->next) {
    rgi_announced *what = (void *)rgi_cell_data(c);
    if (c->kind == RGI_FAR && c->envelope.source == e->source && what->number == e->tag)
      what->whole = 1;
  }
}

const rgi_cell *rgi_look_for(const rgi_request *wanted) {
  rgi_cell **at;
  return find_arrived(wanted, &at);
}
