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
#include "message/message_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/copy.h"
#include "base/error.h"
#include "base/spare.h"
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
  for (rgi_message_cell *cell = first, *next; cell; cell = next) {
    next = cell->next;
    if (!cell->lines)
      rgi_spare_free(cell);
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

static rgi_message_envelope envelope_wanted(const rgi_message *message) {
  return (rgi_message_envelope){.context = message->context,
                                .peer = message->source,
                                .tag = message->tag,
                                .bytes = message->room};
}

static int fits_envelope(const rgi_message_envelope *wanted, const rgi_message_envelope *envelope) {
  return wanted->context == envelope->context &&
         (wanted->peer == RGI_ANY || wanted->peer == envelope->peer) &&
         (wanted->tag == RGI_ANY || wanted->tag == envelope->tag);
}

/* message has matched the message in cell; takes the cell over. */
static void deliver_cell(rgi_message *message, rgi_message_cell *cell) {
  atomic_store_explicit(&message->source, cell->envelope.peer, memory_order_relaxed);
  message->tag = cell->envelope.tag;
  message->bytes = cell->envelope.bytes;
  if (message->bytes > message->room)
    message->error = RG_ERR_TRUNCATE;
  if (cell->kind == RGI_MESSAGE_RTS) {
    rgi_message_pipe_accept(message, cell);
  } else if (cell->kind == RGI_MESSAGE_REMOTE_RTS) {
    rgi_message_remote_accept(message, cell);
  } else {
    size_t n = rgi_message_min(message->bytes, message->room);
    if (n)
      rgi_copy_block(message->data, rgi_message_cell_data(cell), n);
    rgi_message_cell_give(cell);
    rgi_message_finish(message, RG_SUCCESS);
  }
}

static size_t bytes_held(const rgi_message_cell *cell) {
  return cell->kind == RGI_MESSAGE_EAGER ? (size_t)cell->lines * RGI_LINE : 0;
}

/* Returns the cell to keep an unexpected message in. One from another node is cut to its length;
 * one in the arena is copied if the quota is used up. Without memory the cell stays as it is. */
static rgi_message_cell *store_cell(rgi_message_cell *cell) {
  size_t bytes =
      sizeof *cell + (cell->kind == RGI_MESSAGE_EAGER ? cell->envelope.bytes
                                                      : sizeof(rgi_message_cell_remote_rts));
  rgi_message_cell *own;
  if (!cell->lines)
    return rgi_spare_shrink(cell, bytes);
  if (matching.held + bytes_held(cell) <= rgi_message_cells_quota() || !(own = malloc(bytes)))
    return cell;
  memcpy(own, cell, bytes);
  own->lines = 0;
  rgi_message_cell_give(cell);
  return own;
}

static void keep_unexpected(rgi_message_cell *cell) {
  match_bucket *b = bucket_of(cell->envelope.context);
  if (cell->kind != RGI_MESSAGE_RTS)
    cell = store_cell(cell);
  matching.held += bytes_held(cell);
  cell->next = NULL;
  *b->unexpected_end = cell;
  b->unexpected_end = &cell->next;
}

static void remove_unexpected(rgi_message_cell **at) {
  rgi_message_cell *cell = *at;
  match_bucket *b = bucket_of(cell->envelope.context);
  *at = cell->next;
  if (b->unexpected_end == &cell->next)
    b->unexpected_end = at;
  matching.held -= bytes_held(cell);
}

/* The first unexpected message that fits, and the link to it. Rendezvous requests that their
 * senders have withdrawn are dropped on the way. */
static rgi_message_cell *find_unexpected(const rgi_message_envelope *wanted,
                                         rgi_message_cell ***at) {
  *at = &bucket_of(wanted->context)->unexpected;
  while (**at) {
    rgi_message_cell *cell = **at;
    if (!fits_envelope(wanted, &cell->envelope)) {
      *at = &cell->next;
    } else if (cell->kind == RGI_MESSAGE_RTS && rgi_message_pipe_withdrawn(cell)) {
      remove_unexpected(*at);
      rgi_message_pipe_claim(cell);
    } else {
      return cell;
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

void rgi_message_match_forget(uint64_t context) {
  rgi_message_cell **at = &bucket_of(context)->unexpected, *cell;
  while ((cell = *at)) {
    int long_one = cell->kind == RGI_MESSAGE_RTS;
    if (cell->envelope.context != context || cell->kind == RGI_MESSAGE_REMOTE_RTS ||
        (long_one && !rgi_message_pipe_withdrawn(cell))) {
      at = &cell->next;
      continue;
    }
    remove_unexpected(at);
    if (long_one)
      rgi_message_pipe_claim(cell);
    else
      rgi_message_cell_give(cell);
  }
}

static rgi_message *find_posted(const rgi_message_envelope *envelope) {
  for (rgi_message *message = bucket_of(envelope->context)->posted; message;
       message = message->next) {
    rgi_message_envelope wanted = envelope_wanted(message);
    if (fits_envelope(&wanted, envelope))
      return message;
  }
  return NULL;
}

void rgi_message_match_unpost(rgi_message *message) {
  rgi_message_remove(message, &bucket_of(message->context)->posted_end);
}

void rgi_message_match_arrival(rgi_message_cell *cell) {
  rgi_message *message = find_posted(&cell->envelope);
  if (!message) {
    keep_unexpected(cell);
  } else if (cell->kind != RGI_MESSAGE_RTS || rgi_message_pipe_claim(cell)) {
    rgi_message_match_unpost(message);
    deliver_cell(message, cell);
  }
}

void rgi_message_match_post(rgi_message *message) {
  rgi_message_envelope wanted = envelope_wanted(message);
  rgi_message_cell *cell = take_unexpected(&wanted);
  if (cell)
    deliver_cell(message, cell);
  else
    rgi_message_append(message, &bucket_of(message->context)->posted_end, RGI_MESSAGE_POSTED);
}

static void note_fin(rgi_message_cell *first, const rgi_message_envelope *envelope) {
  for (rgi_message_cell *cell = first; cell; cell = cell->next) {
    rgi_message_cell_remote_rts *what = (void *)rgi_message_cell_data(cell);
    if (cell->kind == RGI_MESSAGE_REMOTE_RTS && cell->envelope.peer == envelope->peer &&
        what->data_tag == envelope->tag)
      what->sent = (int64_t)envelope->bytes;
  }
}

void rgi_message_match_fin(const rgi_message_envelope *envelope) {
  note_fin(bucket_of(envelope->context)->unexpected, envelope);
  note_fin(matching.taken, envelope);
}

rgi_message_cell *rgi_message_match_find(const rgi_message_envelope *wanted) {
  rgi_message_cell **at;
  return find_unexpected(wanted, &at);
}

rgi_message_cell *rgi_message_match_take(const rgi_message_envelope *wanted) {
  rgi_message_cell *cell = take_unexpected(wanted);
  if (!cell)
    return NULL;
  matching.held += bytes_held(cell);
  cell->next = matching.taken;
  matching.taken = cell;
  return cell;
}

void rgi_message_match_accept(rgi_message *message, rgi_message_cell *taken) {
  rgi_message_cell **at = &matching.taken;
  while (*at != taken)
    at = &(*at)->next;
  *at = taken->next;
  matching.held -= bytes_held(taken);
  deliver_cell(message, taken);
}
