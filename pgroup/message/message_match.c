/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Matching. For each of some contexts there are two lists: posted receives that no message has
 * matched, and messages that no receive has matched (unexpected ones), both in the order in which
 * they came. Of a receive and a message that fit, at most one is in its list, as each looks through
 * the other list first.
 *
 * Unexpected messages must not fill the arena: above a quota they are copied into memory of the
 * process's own. */
#include "message/message_match.h"

#include <stdlib.h>
#include <string.h>

#include "base/copy.h"
#include "base/error.h"
#include "message/message_pipe.h"
#include "message/message_remote.h"
#include "shm/arena.h"

#define BUCKETS 256 /* of contexts */

typedef struct {
  rgi_message *posted, **posted_end;
  rgi_message_cell *unexpected, **unexpected_end;
} match_bucket;

static struct {
  match_bucket buckets[BUCKETS];
  rgi_message_cell *taken; /* unexpected messages that match_take has taken */
  size_t held;             /* bytes of the arena that unexpected and taken messages take */
} matching;

void rgi_message_match_open(void) {
  memset(&matching, 0, sizeof matching);
  for (int i = 0; i < BUCKETS; i++) {
    matching.buckets[i].posted_end = &matching.buckets[i].posted;
    matching.buckets[i].unexpected_end = &matching.buckets[i].unexpected;
  }
}

static void drop_cells(rgi_message_cell *first) {
  for (rgi_message_cell *c = first, *next; c; c = next) {
    next = c->next;
    if (!c->lines)
      free(c);
  }
}

void rgi_message_match_close(void) {
  for (int i = 0; i < BUCKETS; i++)
    drop_cells(matching.buckets[i].unexpected);
  drop_cells(matching.taken);
}

static match_bucket *bucket_of(uint64_t context) {
  return &matching.buckets[context % BUCKETS];
}

static rgi_message_envelope envelope_wanted(const rgi_message *r) {
  return (rgi_message_envelope){r->context, r->source, r->tag, r->room};
}

static int fits_envelope(const rgi_message_envelope *wanted, const rgi_message_envelope *e) {
  return wanted->context == e->context && (wanted->peer == RGI_ANY || wanted->peer == e->peer) &&
         (wanted->tag == RGI_ANY || wanted->tag == e->tag);
}

/* r has matched the message in c; takes the cell over. */
static void deliver_cell(rgi_message *r, rgi_message_cell *c) {
  atomic_store_explicit(&r->source, c->envelope.peer, memory_order_relaxed);
  r->tag = c->envelope.tag;
  r->bytes = c->envelope.bytes;
  if (r->bytes > r->room)
    r->error = RG_ERR_TRUNCATE;
  if (c->kind == RGI_MESSAGE_RTS) {
    rgi_message_pipe_accept(r, c);
  } else if (c->kind == RGI_MESSAGE_REMOTE_RTS) {
    rgi_message_remote_accept(r, c);
  } else {
    size_t n = rgi_message_min(r->bytes, r->room);
    if (n)
      rgi_copy_block(r->data, rgi_message_cell_data(c), n);
    rgi_message_cell_give(c);
    rgi_message_finish(r, RG_SUCCESS);
  }
}

static size_t bytes_held(const rgi_message_cell *c) {
  return c->kind == RGI_MESSAGE_EAGER ? (size_t)c->lines * RGI_LINE : 0;
}

/* Returns the cell to keep an unexpected message in. One from another node is cut to its length;
 * one in the arena is copied if the quota is used up. Without memory the cell stays as it is. */
static rgi_message_cell *store_cell(rgi_message_cell *c) {
  size_t bytes = sizeof *c + (c->kind == RGI_MESSAGE_EAGER ? c->envelope.bytes
                                                           : sizeof(rgi_message_cell_remote_rts));
  rgi_message_cell *own;
  if (!c->lines) {
    own = realloc(c, bytes);
    return own ? own : c;
  }
  if (matching.held + bytes_held(c) <= rgi_message_cells_quota() || !(own = malloc(bytes)))
    return c;
  memcpy(own, c, bytes);
  own->lines = 0;
  rgi_message_cell_give(c);
  return own;
}

static void keep_unexpected(rgi_message_cell *c) {
  match_bucket *b = bucket_of(c->envelope.context);
  if (c->kind != RGI_MESSAGE_RTS)
    c = store_cell(c);
  matching.held += bytes_held(c);
  c->next = NULL;
  *b->unexpected_end = c;
  b->unexpected_end = &c->next;
}

static void remove_unexpected(rgi_message_cell **at) {
  rgi_message_cell *c = *at;
  match_bucket *b = bucket_of(c->envelope.context);
  *at = c->next;
  if (b->unexpected_end == &c->next)
    b->unexpected_end = at;
  matching.held -= bytes_held(c);
}

/* The first unexpected message that fits, and the link to it. Rendezvous requests that their
 * senders have withdrawn are dropped on the way. */
static rgi_message_cell *find_unexpected(const rgi_message_envelope *wanted,
                                         rgi_message_cell ***at) {
  *at = &bucket_of(wanted->context)->unexpected;
  while (**at) {
    rgi_message_cell *c = **at;
    if (!fits_envelope(wanted, &c->envelope)) {
      *at = &c->next;
    } else if (c->kind == RGI_MESSAGE_RTS && rgi_message_pipe_withdrawn(c)) {
      remove_unexpected(*at);
      rgi_message_pipe_claim(c);
    } else {
      return c;
    }
  }
  return NULL;
}

/* Removes the first unexpected message that fits. A rendezvous request is claimed. */
static rgi_message_cell *take_unexpected(const rgi_message_envelope *wanted) {
  rgi_message_cell **at, *c;
  while ((c = find_unexpected(wanted, &at))) {
    remove_unexpected(at);
    if (c->kind != RGI_MESSAGE_RTS || rgi_message_pipe_claim(c))
      return c;
  }
  return NULL;
}

static rgi_message *find_posted(const rgi_message_envelope *e) {
  for (rgi_message *r = bucket_of(e->context)->posted; r; r = r->next) {
    rgi_message_envelope wanted = envelope_wanted(r);
    if (fits_envelope(&wanted, e))
      return r;
  }
  return NULL;
}

void rgi_message_match_unpost(rgi_message *r) {
  rgi_message_remove(r, &bucket_of(r->context)->posted_end);
}

void rgi_message_match_arrival(rgi_message_cell *c) {
  rgi_message *r = find_posted(&c->envelope);
  if (!r) {
    keep_unexpected(c);
  } else if (c->kind != RGI_MESSAGE_RTS || rgi_message_pipe_claim(c)) {
    rgi_message_match_unpost(r);
    deliver_cell(r, c);
  }
}

void rgi_message_match_post(rgi_message *r) {
  rgi_message_envelope wanted = envelope_wanted(r);
  rgi_message_cell *c = take_unexpected(&wanted);
  if (c)
    deliver_cell(r, c);
  else
    rgi_message_append(r, &bucket_of(r->context)->posted_end, RGI_MESSAGE_POSTED);
}

static void note_fin(rgi_message_cell *first, const rgi_message_envelope *e) {
  for (rgi_message_cell *c = first; c; c = c->next) {
    rgi_message_cell_remote_rts *what = (void *)rgi_message_cell_data(c);
    if (c->kind == RGI_MESSAGE_REMOTE_RTS && c->envelope.peer == e->peer &&
        what->data_tag == e->tag)
      what->sent = (int64_t)e->bytes;
  }
}

void rgi_message_match_fin(const rgi_message_envelope *e) {
  note_fin(bucket_of(e->context)->unexpected, e);
  note_fin(matching.taken, e);
}

rgi_message_cell *rgi_message_match_find(const rgi_message_envelope *wanted) {
  rgi_message_cell **at;
  return find_unexpected(wanted, &at);
}

rgi_message_cell *rgi_message_match_take(const rgi_message_envelope *wanted) {
  rgi_message_cell *c = take_unexpected(wanted);
  if (!c)
    return NULL;
  matching.held += bytes_held(c);
  c->next = matching.taken;
  matching.taken = c;
  return c;
}

void rgi_message_match_accept(rgi_message *r, rgi_message_cell *taken) {
  rgi_message_cell **at = &matching.taken;
  while (*at != taken)
    at = &(*at)->next;
  *at = taken->next;
  matching.held -= bytes_held(taken);
  deliver_cell(r, taken);
}
