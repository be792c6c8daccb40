/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A piece is what one old block and one new block have in common. If its old owner is a member of
 * the new array, it puts the piece there. Otherwise, if the new owner is a member of the old array,
 * it gets the piece from there. Otherwise the old owner sends it. All pieces that one process sends
 * to another go in one message, in the order of their first elements: both compute the same
 * list. */
#include "regroup/redistribute.h"

#include <regroup/p2p.h>

#include <stdlib.h>
#include <string.h>

#include "access/patch.h"
#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "distribution/distribution_owner.h"
#include "distribution/piece.h"
#include "object/array.h"

#define TAG 0

typedef struct {
  rgi_redistribute_call call;
  size_t element;
  unsigned char *part; /* for each rank of both: OLD, NEW */
  struct piece_message *messages;
  int messages_n;
} redistribution;
enum { OLD = 1, NEW = 2 };

/* The pieces that go to, or come from, one process. */
typedef struct piece_message {
  int peer, incoming;
  rgi_piece *pieces; /* in this process's memory of the array */
  int64_t n, room, bytes;
  char *data;
  rg_request request;
} piece_message;

/* --- the lists -------------------------------------------------------------------- */

static piece_message *message_with(redistribution *m, int peer, int incoming) {
  for (int i = 0; i < m->messages_n; i++)
    if (m->messages[i].peer == peer && m->messages[i].incoming == incoming)
      return &m->messages[i];
  piece_message *more = realloc(m->messages, (size_t)(m->messages_n + 1) * sizeof *more);
  if (!more)
    return NULL;
  m->messages = more;
  m->messages[m->messages_n] = (piece_message){.peer = peer, .incoming = incoming};
  return &m->messages[m->messages_n++];
}

static int64_t elements_of(const rgi_piece *p, int dims) {
  int64_t n = 1;
  for (int d = 0; d < dims; d++)
    n *= p->hi[d] - p->lo[d];
  return n;
}

static int add_to_message(redistribution *m, int peer, int incoming, const rgi_piece *piece) {
  piece_message *l = message_with(m, peer, incoming);
  if (l && l->n == l->room) {
    int64_t room = 2 * l->room + 4;
    rgi_piece *more = realloc(l->pieces, (size_t)room * sizeof *more);
    if (!more)
      l = NULL;
    else {
      l->pieces = more;
      l->room = room;
    }
  }
  if (!l)
    return rgi_error(RG_ERR_NOMEM, "rg_array_regroup: no memory for the list of pieces");
  l->pieces[l->n++] = *piece;
  l->bytes += elements_of(piece, m->call.from->d.dims) * (int64_t)m->element;
  return RG_SUCCESS;
}

static int by_first_element(const void *x, const void *y) {
  const rgi_piece *a = x, *b = y;
  for (int d = 0; d < RG_ARRAY_MAX_DIMS; d++)
    if (a->lo[d] != b->lo[d])
      return a->lo[d] < b->lo[d] ? -1 : 1;
  return 0;
}

/* --- moving --------------------------------------------------------------------------- */

static char *place_of(const redistribution *m, rg_array array, const rgi_piece *p) {
  return rgi_array_mine(array) + p->offset * (int64_t)m->element;
}

/* A piece of an old block of this process. */
static int move_old_piece(redistribution *m, const rgi_piece *here, int owner) {
  int peer = (int)m->call.to->ranks[owner];
  if (m->call.b)
    return rg_array_put(m->call.b, here->lo, here->hi, place_of(m, m->call.a, here), here->ld);
  return m->part[peer] & OLD ? RG_SUCCESS : add_to_message(m, peer, 0, here);
}

/* A piece of a new block of this process. */
static int move_new_piece(redistribution *m, const rgi_piece *here, int owner) {
  int peer = (int)m->call.from->ranks[owner];
  if (m->part[peer] & NEW)
    return RG_SUCCESS; /* its owner puts it here */
  if (m->call.a)
    return rg_array_get(m->call.a, here->lo, here->hi, place_of(m, m->call.b, here), here->ld);
  return add_to_message(m, peer, 1, here);
}

/* For each of a member's blocks in one distribution, its pieces in the other. */
static int walk_pieces(redistribution *m, const rgi_distribution *mine, int rank,
                       const rgi_distribution *others,
                       int (*step)(redistribution *m, const rgi_piece *here, int owner)) {
  for (int64_t i = 0, n = rgi_distribution_blocks(mine, rank); i < n; i++) {
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
    rgi_pieces it;
    rgi_piece there, here;
    rgi_distribution_block(mine, rank, i, lo, hi);
    rgi_pieces_start(&it, others, lo, hi);
    while (rgi_pieces_next(&it, &there)) {
      rgi_pieces_get(mine, there.lo, there.hi, 0, &here);
      RGI_TRY(step(m, &here, there.rank));
    }
  }
  return RG_SUCCESS;
}

static void copy_piece(const redistribution *m, const rgi_piece *p, char *data, int incoming) {
  int64_t extent[RG_ARRAY_MAX_DIMS];
  int dims = m->call.from->d.dims;
  for (int d = 0; d < dims; d++)
    extent[d] = p->hi[d] - p->lo[d];
  rgi_strided patch = rgi_strided_make(dims, extent, m->element, NULL, p->ld);
  if (incoming)
    rgi_patch_put(&patch, place_of(m, m->call.b, p), data);
  else
    rgi_patch_get(&patch, place_of(m, m->call.a, p), data);
}

static void copy_message(const redistribution *m, const piece_message *l) {
  int64_t at = 0;
  for (int64_t i = 0; i < l->n; i++) {
    copy_piece(m, &l->pieces[i], l->data + at, l->incoming);
    at += elements_of(&l->pieces[i], m->call.from->d.dims) * (int64_t)m->element;
  }
}

/* Without memory for it an empty message is sent, so that the receiver does not wait for ever. */
static int post_message(redistribution *m, piece_message *l) {
  qsort(l->pieces, (size_t)l->n, sizeof *l->pieces, by_first_element);
  l->data = malloc((size_t)l->bytes);
  int64_t bytes = l->data ? l->bytes : 0;
  if (l->incoming)
    return rg_irecv(m->call.both, l->data, bytes, MPI_BYTE, l->peer, TAG, &l->request);
  if (l->data)
    copy_message(m, l);
  RGI_TRY(rg_isend(m->call.both, l->data, bytes, MPI_BYTE, l->peer, TAG, &l->request));
  return l->data ? RG_SUCCESS
                 : rgi_error(RG_ERR_NOMEM, "rg_array_regroup: no memory for %lld bytes to send",
                             (long long)l->bytes);
}

static int finish_message(redistribution *m, piece_message *l) {
  rg_status status;
  RGI_TRY(rg_wait(&l->request, &status));
  if (!l->incoming)
    return RG_SUCCESS;
  if (status.bytes != l->bytes)
    return rgi_error(RG_ERR_NOMEM,
                     "rg_array_regroup: rank %d of the group of both had no memory "
                     "for what it was to send",
                     l->peer);
  copy_message(m, l);
  return RG_SUCCESS;
}

static int exchange_messages(redistribution *m) {
  int error = RG_SUCCESS;
  for (int i = 0; i < m->messages_n; i++) {
    int failed = post_message(m, &m->messages[i]);
    error = error ? error : failed;
  }
  for (int i = 0; i < m->messages_n; i++) {
    int failed = m->messages[i].request ? finish_message(m, &m->messages[i]) : RG_SUCCESS;
    error = error ? error : failed;
  }
  return error;
}

static void mark_members(redistribution *m, const rgi_side *side, unsigned char which) {
  for (int i = 0; i < side->members; i++)
    m->part[side->ranks[i]] |= which;
}

static int do_all(redistribution *m) {
  int old = rgi_side_rank(m->call.from, m->call.me), new = rgi_side_rank(m->call.to, m->call.me);
  int error = RG_SUCCESS, failed;
  if (m->call.a)
    error = walk_pieces(m, &m->call.from->d, old, &m->call.to->d, move_old_piece);
  if (m->call.b) {
    failed = walk_pieces(m, &m->call.to->d, new, &m->call.from->d, move_new_piece);
    error = error ? error : failed;
  }
  /* If a member's list is incomplete, no member may wait for its messages. */
  RGI_TRY(rgi_group_error_share(m->call.both, RGI_REDISTRIBUTE_WHERE, error));
  error = exchange_messages(m);
  failed = m->call.b ? rg_array_fence(m->call.b) : RG_SUCCESS;
  return error ? error : failed;
}

int rgi_redistribute(const rgi_redistribute_call *call) {
  redistribution m = {.call = *call, .element = call->from->spec.element_size};
  int size, error;
  RGI_TRY(rg_group_size(call->both, &size));
  m.part = calloc((size_t)size, 1);
  if (!m.part) /* the other members agree on errors in do_all */
    return rgi_group_error_share(call->both, RGI_REDISTRIBUTE_WHERE,
                                 rgi_error(RG_ERR_NOMEM, "rg_array_regroup: no memory"));
  mark_members(&m, call->from, OLD);
  mark_members(&m, call->to, NEW);
  error = do_all(&m);
  for (int i = 0; i < m.messages_n; i++) {
    free(m.messages[i].pieces);
    free(m.messages[i].data);
  }
  free(m.messages);
  free(m.part);
  return error;
}
