/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * rg_array_regroup: the members of both groups agree on the two sides, make the new array, move the
 * elements, agree that all have succeeded, and free the old array, which is unchanged until then.
 */
#include <limits.h>
#include <regroup/array_regroup.h>
#include <regroup/collectives.h>
#include <regroup/p2p.h>
#include <stdlib.h>
#include <string.h>

#include "access/patch.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/sized.h"
#include "collectives/calls/group_error.h"
#include "distribution/distribution.h"
#include "distribution/distribution_owner.h"
#include "distribution/piece.h"
#include "object/array.h"
#include "regroup/side.h"

/* --- moving the elements ---------------------------------------------------------------------- */

/* A piece is what one old block and one new block have in common. If its old owner is a member of
 * the new array, it puts the piece there. Otherwise, if the new owner is a member of the old array,
 * it gets the piece from there. Otherwise the old owner sends it. All pieces that one process sends
 * to another go in one message, in the order of their first elements: both compute the same
 * list. */
/* For errors: their ranks are those of both. */
#define WHERE "rg_array_regroup: in the group of both"

typedef struct {
  rg_group both;
  int me;                    /* the caller's rank in both */
  const rgi_side *from, *to; /* the old group and the new one */
  rg_array a, b;             /* the array of each; NULL if the caller is not in that group */
} redistribute_call;

#define TAG 0

typedef struct {
  redistribute_call call;
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

static int64_t elements_of(const rgi_piece *piece, int dims) {
  int64_t n = 1;
  for (int d = 0; d < dims; d++)
    n *= piece->hi[d] - piece->lo[d];
  return n;
}

static int add_to_message(redistribution *move, int peer, int incoming, const rgi_piece *piece) {
  piece_message *message = message_with(move, peer, incoming);
  if (!message)
    return rgi_error(RG_ERR_NOMEM, "rg_array_regroup: no memory for the list of messages");
  RGI_TRY(rgi_grow(&message->pieces, message->n, &message->room, sizeof *message->pieces,
                   "rg_array_regroup: no memory for %lld pieces"));
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

static char *place_of(const redistribution *move, rg_array array, const rgi_piece *piece) {
  return rgi_array_mine(array) + piece->offset * (int64_t)move->element;
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

static void copy_piece(const redistribution *move, const rgi_piece *piece, char *data,
                       int incoming) {
  int64_t extent[RG_ARRAY_MAX_DIMS];
  int dims = move->call.from->d.dims;
  for (int d = 0; d < dims; d++)
    extent[d] = piece->hi[d] - piece->lo[d];
  rgi_strided patch = rgi_strided_make(dims, extent, move->element, NULL, piece->ld);
  if (incoming)
    rgi_patch_put(&patch, place_of(move, move->call.b, piece), data);
  else
    rgi_patch_get(&patch, place_of(move, move->call.a, piece), data);
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
  RGI_TRY(rgi_group_error_share(move->call.both, WHERE, error));
  error = exchange_messages(move);
  failed = move->call.b ? rg_array_fence(move->call.b) : RG_SUCCESS;
  return error ? error : failed;
}

/* Every member of both. All elements are in place when all members have returned. */
static int redistribute(const redistribute_call *call) {
  redistribution move = {.call = *call, .element = call->from->spec.element_size};
  int size, error;
  RGI_TRY(rg_group_size(call->both, &size));
  move.part = calloc((size_t)size, 1);
  if (!move.part) /* the other members agree on errors in do_all */
    return rgi_group_error_share(call->both, WHERE,
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

typedef struct {
  rg_group both; /* a duplicate: its messages cannot match the program's */
  int me;
  rg_array a, b;
  rg_group to;
  rgi_side from_side, to_side;
} regroup_call;

/* All return an error if one has one. */
static int share_error(const regroup_call *regrouping, int error) {
  return rgi_group_error_share(regrouping->both, WHERE, error);
}

/* For each side the lowest rank of both that is on it. */
static int find_roots(regroup_call *regrouping, int error, int roots[2]) {
  enum { NONE = INT_MIN };
  int64_t found[3] = {regrouping->a ? -regrouping->me : NONE,
                      regrouping->to ? -regrouping->me : NONE,
                      rgi_group_error_word(regrouping->both, error)};
  RGI_TRY(rg_allreduce(regrouping->both, MPI_IN_PLACE, found, 3, MPI_INT64_T, MPI_MAX));
  RGI_TRY(rgi_group_error_tell(regrouping->both, WHERE, found[2], error));
  for (int side = 0; side < 2; side++) {
    if (found[side] == NONE)
      return rgi_error(RG_ERR_ARG, side ? "rg_array_regroup: no member of both is in `to`"
                                        : "rg_array_regroup: no member of both has the array");
    roots[side] = -(int)found[side];
  }
  return RG_SUCCESS;
}

/* The new side's shape and type are those of the old array, which new processes learn only with the
 * old side: so the old side is described and broadcast first. */
static int describe_old(regroup_call *regrouping) {
  rg_array_spec spec = {.size = sizeof spec};
  rg_group g;
  RGI_TRY(rg_array_info(regrouping->a, &spec));
  RGI_TRY(rg_array_group(regrouping->a, &g));
  return rgi_side_known(&spec, g, regrouping->both, &regrouping->from_side);
}

static int describe_new(regroup_call *regrouping, const rg_array_spec *wanted) {
  const rg_array_spec *old = &regrouping->from_side.spec;
  rg_array_spec spec = {.size = sizeof spec, .layout = RG_LAYOUT_BLOCK};
  int members;
  if (wanted)
    spec = *wanted;
  else {
    memcpy(spec.ghosts, old->ghosts, sizeof spec.ghosts);
    memcpy(spec.periodic, old->periodic, sizeof spec.periodic);
    spec.flags = old->flags;
  }
  spec.dims = old->dims;
  spec.type = old->type;
  spec.element_size = old->element_size;
  memcpy(spec.shape, old->shape, sizeof spec.shape);
  RGI_TRY(rg_group_size(regrouping->to, &members));
  RGI_TRY(rgi_distribution_check_spec(&spec, members));
  return rgi_side_known(&spec, regrouping->to, regrouping->both, &regrouping->to_side);
}

/* Whether the caller gave what a member of the two groups has to. */
static int check_part(const regroup_call *regrouping) {
  int old = rgi_side_rank(&regrouping->from_side, regrouping->me),
      new = rgi_side_rank(&regrouping->to_side, regrouping->me);
  if ((old >= 0) != (regrouping->a != NULL))
    return rgi_error(RG_ERR_MISMATCH,
                     "rg_array_regroup: the caller is %s the array's group, but "
                     "has %s",
                     old >= 0 ? "in" : "not in",
                     regrouping->a ? "given an array" : "not given the array");
  if ((new >= 0) != (regrouping->to != NULL))
    return rgi_error(RG_ERR_MISMATCH,
                     "rg_array_regroup: the caller is %s the new group, but has "
                     "given %s",
                     new >= 0 ? "in" : "not in", regrouping->to ? "one" : "NULL for it");
  return RG_SUCCESS;
}

static int tell_sides(regroup_call *regrouping, int error, const rg_array_spec *wanted) {
  int roots[2] = {0, 0};
  if (!error && regrouping->a)
    error = describe_old(regrouping);
  RGI_TRY(find_roots(regrouping, error, roots));
  RGI_TRY(
      share_error(regrouping, rgi_side_spread(regrouping->both, roots[0], &regrouping->from_side)));
  RGI_TRY(share_error(regrouping, regrouping->to ? describe_new(regrouping, wanted) : RG_SUCCESS));
  RGI_TRY(
      share_error(regrouping, rgi_side_spread(regrouping->both, roots[1], &regrouping->to_side)));
  return share_error(regrouping, check_part(regrouping));
}

static int move_elements(regroup_call *regrouping) {
  int error = regrouping->to
                  ? rg_array_create(regrouping->to, &regrouping->to_side.spec, &regrouping->b)
                  : RG_SUCCESS;
  if (!error && regrouping->a)
    error = rg_array_fence(regrouping->a);
  RGI_TRY(share_error(regrouping, error));
  return share_error(regrouping, redistribute(&(redistribute_call){.both = regrouping->both,
                                                                   .me = regrouping->me,
                                                                   .from = &regrouping->from_side,
                                                                   .to = &regrouping->to_side,
                                                                   .a = regrouping->a,
                                                                   .b = regrouping->b}));
}

/* The elements of a mirrored array are copied before the old one, which has copies, is freed. */
static int copy_mirrored(regroup_call *regrouping) {
  if (!(regrouping->to_side.spec.flags & RG_ARRAY_MIRRORED))
    return RG_SUCCESS;
  return share_error(regrouping, regrouping->b ? rg_array_sync(regrouping->b) : RG_SUCCESS);
}

static int check_arguments(const rg_array *a, rg_group to) {
  if (!a)
    return rgi_error(RG_ERR_ARG, "rg_array_regroup: a is NULL");
  if (*a)
    RGI_TRY(rgi_array_check("rg_array_regroup", *a));
  if (!*a && !to)
    return rgi_error(RG_ERR_ARG, "rg_array_regroup: the caller has neither the array nor a place "
                                 "in the new group");
  return RG_SUCCESS;
}

int rg_array_regroup(rg_group both, rg_group to, const rg_array_spec *spec, rg_array *a) {
  rg_array_spec own;
  regroup_call h = {.to = to};
  if (!both)
    return rgi_error(RG_ERR_GROUP, "rg_array_regroup: both is NULL");
  RGI_TRY(rg_group_dup(both, &h.both));
  int error = rg_group_rank(both, &h.me);
  int wrong = check_arguments(a, to); /* the other members learn of it in tell_sides */
  if (!wrong && spec)
    wrong = rgi_sized_take(&own, sizeof own, spec, "rg_array_regroup: spec");
  h.a = a && !wrong ? *a : NULL;
  if (!error)
    error = tell_sides(&h, wrong, spec ? &own : NULL);
  if (!error)
    error = move_elements(&h);
  if (!error)
    error = copy_mirrored(&h);
  rgi_side_clear(&h.from_side);
  rgi_side_clear(&h.to_side);
  rg_group_free(&h.both);
  if (error) {
    rg_array_free(&h.b);
    return error;
  }
  *a = h.b;
  rgi_array_pass_name(h.a, h.b);
  if (rg_array_free(&h.a))
    rgi_log(RGI_LOG_WARN, "rg_array_regroup: the old array is not freed: %s", rg_error_detail());
  return RG_SUCCESS;
}
