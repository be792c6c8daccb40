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

static piece_message *message_with(redistribution *move, int peer, int incoming) {
  for (int i = 0; i < move->messages_n; i++)
    if (move->messages[i].peer == peer && move->messages[i].incoming == incoming)
      return &move->messages[i];
  piece_message *more = realloc(move->messages, (size_t)(move->messages_n + 1) * sizeof *more);
  if (!more)
    return NULL;
  move->messages = more;
  move->messages[move->messages_n] = (piece_message){.peer = peer, .incoming = incoming};
  return &move->messages[move->messages_n++];
}

static int64_t elements_of(const rgi_piece *p, int dims) {
  int64_t n = 1;
  for (int d = 0; d < dims; d++)
    n *= p->hi[d] - p->lo[d];
  return n;
}

static int add_to_message(redistribution *move, int peer, int incoming, const rgi_piece *piece) {
  piece_message *message = message_with(move, peer, incoming);
  if (message && message->n == message->room) {
    int64_t room = 2 * message->room + 4;
    rgi_piece *more = realloc(message->pieces, (size_t)room * sizeof *more);
    if (!more)
      message = NULL;
    else {
      message->pieces = more;
      message->room = room;
    }
  }
  if (!message)
    return rgi_error(RG_ERR_NOMEM, "rg_array_regroup: no memory for the list of pieces");
  message->pieces[message->n++] = *piece;
  message->bytes += elements_of(piece, move->call.from->d.dims) * (int64_t)move->element;
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

static char *place_of(const redistribution *move, rg_array array, const rgi_piece *p) {
  return rgi_array_mine(array) + p->offset * (int64_t)move->element;
}

/* A piece of an old block of this process. */
static int move_old_piece(redistribution *move, const rgi_piece *here, int owner) {
  int peer = (int)move->call.to->ranks[owner];
  if (move->call.b)
    return rg_array_put(move->call.b, here->lo, here->hi, place_of(move, move->call.a, here),
                        here->ld);
  return move->part[peer] & OLD ? RG_SUCCESS : add_to_message(move, peer, 0, here);
}

/* A piece of a new block of this process. */
static int move_new_piece(redistribution *move, const rgi_piece *here, int owner) {
  int peer = (int)move->call.from->ranks[owner];
  if (move->part[peer] & NEW)
    return RG_SUCCESS; /* its owner puts it here */
  if (move->call.a)
    return rg_array_get(move->call.a, here->lo, here->hi, place_of(move, move->call.b, here),
                        here->ld);
  return add_to_message(move, peer, 1, here);
}

/* For each of a member's blocks in one distribution, its pieces in the other. */
static int walk_pieces(redistribution *move, const rgi_distribution *mine, int rank,
                       const rgi_distribution *others,
                       int (*step)(redistribution *move, const rgi_piece *here, int owner)) {
  for (int64_t i = 0, n = rgi_distribution_blocks(mine, rank); i < n; i++) {
    int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
    rgi_pieces it;
    rgi_piece there, here;
    rgi_distribution_block(mine, rank, i, lo, hi);
    rgi_pieces_start(&it, others, lo, hi);
    while (rgi_pieces_next(&it, &there)) {
      rgi_pieces_get(mine, there.lo, there.hi, 0, &here);
      RGI_TRY(step(move, &here, there.rank));
    }
  }
  return RG_SUCCESS;
}

static void copy_piece(const redistribution *move, const rgi_piece *p, char *data, int incoming) {
  int64_t extent[RG_ARRAY_MAX_DIMS];
  int dims = move->call.from->d.dims;
  for (int d = 0; d < dims; d++)
    extent[d] = p->hi[d] - p->lo[d];
  rgi_strided patch = rgi_strided_make(dims, extent, move->element, NULL, p->ld);
  if (incoming)
    rgi_patch_put(&patch, place_of(move, move->call.b, p), data);
  else
    rgi_patch_get(&patch, place_of(move, move->call.a, p), data);
}

static void copy_message(const redistribution *move, const piece_message *message) {
  int64_t at = 0;
  for (int64_t i = 0; i < message->n; i++) {
    copy_piece(move, &message->pieces[i], message->data + at, message->incoming);
    at += elements_of(&message->pieces[i], move->call.from->d.dims) * (int64_t)move->element;
  }
}

/* Without memory for it an empty message is sent, so that the receiver does not wait for ever. */
static int post_message(redistribution *move, piece_message *message) {
  qsort(message->pieces, (size_t)message->n, sizeof *message->pieces, by_first_element);
  message->data = malloc((size_t)message->bytes);
  int64_t bytes = message->data ? message->bytes : 0;
  if (message->incoming)
    return rg_irecv(move->call.both, message->data, bytes, MPI_BYTE, message->peer, TAG,
                    &message->request);
  if (message->data)
    copy_message(move, message);
  RGI_TRY(rg_isend(move->call.both, message->data, bytes, MPI_BYTE, message->peer, TAG,
                   &message->request));
  return message->data
             ? RG_SUCCESS
             : rgi_error(RG_ERR_NOMEM, "rg_array_regroup: no memory for %lld bytes to send",
                         (long long)message->bytes);
}

static int finish_message(redistribution *move, piece_message *message) {
  rg_status status;
  RGI_TRY(rg_wait(&message->request, &status));
  if (!message->incoming)
    return RG_SUCCESS;
  if (status.bytes != message->bytes)
    return rgi_error(RG_ERR_NOMEM,
                     "rg_array_regroup: rank %d of the group of both had no memory "
                     "for what it was to send",
                     message->peer);
  copy_message(move, message);
  return RG_SUCCESS;
}

static int exchange_messages(redistribution *move) {
  int error = RG_SUCCESS;
  for (int i = 0; i < move->messages_n; i++) {
    int failed = post_message(move, &move->messages[i]);
    error = error ? error : failed;
  }
  for (int i = 0; i < move->messages_n; i++) {
    int failed = move->messages[i].request ? finish_message(move, &move->messages[i]) : RG_SUCCESS;
    error = error ? error : failed;
  }
  return error;
}

static void mark_members(redistribution *move, const rgi_side *side, unsigned char which) {
  for (int i = 0; i < side->members; i++)
    move->part[side->ranks[i]] |= which;
}

static int do_all(redistribution *move) {
  int old = rgi_side_rank(move->call.from, move->call.me),
      new = rgi_side_rank(move->call.to, move->call.me);
  int error = RG_SUCCESS, failed;
  if (move->call.a)
    error = walk_pieces(move, &move->call.from->d, old, &move->call.to->d, move_old_piece);
  if (move->call.b) {
    failed = walk_pieces(move, &move->call.to->d, new, &move->call.from->d, move_new_piece);
    error = error ? error : failed;
  }
  /* If a member's list is incomplete, no member may wait for its messages. */
  RGI_TRY(rgi_group_error_share(move->call.both, RGI_REDISTRIBUTE_WHERE, error));
  error = exchange_messages(move);
  failed = move->call.b ? rg_array_fence(move->call.b) : RG_SUCCESS;
  return error ? error : failed;
}

int rgi_redistribute(const rgi_redistribute_call *call) {
  redistribution move = {.call = *call, .element = call->from->spec.element_size};
  int size, error;
  RGI_TRY(rg_group_size(call->both, &size));
  move.part = calloc((size_t)size, 1);
  if (!move.part) /* the other members agree on errors in do_all */
    return rgi_group_error_share(call->both, RGI_REDISTRIBUTE_WHERE,
                                 rgi_error(RG_ERR_NOMEM, "rg_array_regroup: no memory"));
  mark_members(&move, call->from, OLD);
  mark_members(&move, call->to, NEW);
  error = do_all(&move);
  for (int i = 0; i < move.messages_n; i++) {
    free(move.messages[i].pieces);
    free(move.messages[i].data);
  }
  free(move.messages);
  free(move.part);
  return error;
}
