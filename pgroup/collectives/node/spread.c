/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Long broadcasts inside a node, where each process has a processor. The caches of one processor
 * give to many others no more bytes in a second than to one: so each member but the root reads a
 * piece of its own from the root's memory into its chunk of the shared buffer, and copies the other
 * pieces from the chunks of those that have read them. The root leaves when all pieces have been
 * read. Data that are longer than all chunks take several such steps. In them each reader, and the
 * root, publishes which member it takes for the root. */
#include <string.h>

#include "base/copy.h"
#include "base/error.h"
#include "collectives/node/node_coll.h"
#include "collectives/node/step.h"
#include "collectives/shared/lines_count.h"

/* Shorter pieces are not worth the looks at one member more. */
#define PIECE_LEAST ((size_t)2 << 10)

typedef struct {
  const rgi_node_coll_copy *copy;
  uint64_t address;    /* of the data in the root's memory */
  size_t piece, round; /* bytes of a member's piece, at most; of all pieces of a step */
} spread;

/* The pieces of a step are about as long as those of the others. */
static spread divide(const rgi_shared_state *state, const rgi_node_coll_copy *copy) {
  size_t readers = (size_t)state->n - 1, most = readers * RGI_SHM_CHUNK,
         steps = (copy->bytes + most - 1) / most, pieces = steps * readers,
         piece = rgi_lines_whole((copy->bytes + pieces - 1) / pieces);
  piece = piece > PIECE_LEAST ? piece : PIECE_LEAST;
  return (spread){.copy = copy, .piece = piece, .round = readers * piece};
}

/* The bytes of member i's piece in the step whose pieces begin with byte `at`, 0 for the root;
 * where it begins. */
static size_t piece_of(const spread *spread, int i, size_t at, size_t *begin) {
  *begin = at + (size_t)(i - (i > spread->copy->giver)) * spread->piece;
  size_t left =
      *begin < spread->copy->bytes && i != spread->copy->giver ? spread->copy->bytes - *begin : 0;
  return left < spread->piece ? left : spread->piece;
}

/* The step in which the root tells where the data are. */
static int tell_address(rgi_shared_state *state, spread *spread) {
  const rgi_node_coll_copy *copy = spread->copy;
  if (state->me == copy->giver) {
    RGI_TRY(rgi_step_begin(state, 0, copy->call));
    const rgi_node_coll_offer mine = rgi_node_coll_offer_make(state, copy->in, copy->bytes);
    rgi_step_give(state, &mine, sizeof mine);
  } else {
    rgi_node_coll_offer *offer;
    RGI_TRY(rgi_step_begin_unread(state, copy->call));
    RGI_TRY(rgi_step_await_member(state, copy->giver, copy->call));
    RGI_TRY(rgi_node_coll_offer_of(state, copy->giver, copy->bytes, copy->call, &offer));
    spread->address = offer->address;
  }
  rgi_step_end(state);
  return RG_SUCCESS;
}

/* Waits until member i has read its piece. */
static int await_piece(rgi_shared_state *state, const spread *spread, int i) {
  int32_t root;
  RGI_TRY(rgi_step_await_member(state, i, spread->copy->call));
  RGI_TRY(rgi_step_check_length(state, i, state->step, spread->copy->call));
  memcpy(&root, rgi_step_cell(state, i)->data, sizeof root);
  return root == spread->copy->giver
             ? RG_SUCCESS
             : rgi_error(RG_ERR_MISMATCH,
                         "%s: the roots differ: rank %d has another one than this process; form "
                         "the group anew (rg_group_dup)",
                         spread->copy->call, rgi_shared_state_group_rank(state, i));
}

/* A step of all: `at`, where its pieces begin. The root takes none, and waits for the readers of
 * the last step alone: then its memory is the application's again. */
static int exchange_pieces(rgi_shared_state *state, const spread *spread, size_t at) {
  size_t begin, n = piece_of(spread, state->me, at, &begin);
  int32_t root = spread->copy->giver;
  int waits = state->me != root || spread->copy->bytes - at <= spread->round;
  RGI_TRY(rgi_step_begin(state, 1, spread->copy->call));
  char *chunk = rgi_step_chunk(state, state->me, state->step);
  if (n > 0)
    RGI_TRY(rgi_node_coll_read_member(state, root, spread->address + begin, chunk, n,
                                      spread->copy->call));
  rgi_step_publish(state, &root, sizeof root);
  if (n > 0)
    rgi_copy_block(spread->copy->out + begin, chunk, n);
  for (int k = 1; k < state->n && waits; k++) {
    int i = (state->me + k) % state->n;
    if ((n = piece_of(spread, i, at, &begin)) == 0)
      continue;
    RGI_TRY(await_piece(state, spread, i));
    RGI_LINES_COUNT_READ(state->me == root ? 0 : RGI_LINES_COUNT_OF(n));
    if (state->me != root)
      rgi_copy_block(spread->copy->out + begin, rgi_step_chunk(state, i, state->step), n);
  }
  rgi_step_end(state);
  return RG_SUCCESS;
}

int rgi_node_coll_spread(rgi_shared_state *state, const rgi_node_coll_copy *copy) {
  spread s = divide(state, copy);
  RGI_TRY(tell_address(state, &s));
  for (size_t at = 0; at < copy->bytes; at += s.round)
    RGI_TRY(exchange_pieces(state, &s, at));
  return RG_SUCCESS;
}
