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
  const rgi_node_coll_copy *c;
  uint64_t address;    /* of the data in the root's memory */
  size_t piece, round; /* bytes of a member's piece, at most; of all pieces of a step */
} spread;

int rgi_node_coll_spreads(const rgi_shared_state *l) {
  return l->n > 2 && rgi_step_can_spin();
}

/* The pieces of a step are about as long as those of the others. */
static spread divide(const rgi_shared_state *l, const rgi_node_coll_copy *c) {
  size_t readers = (size_t)l->n - 1, most = readers * RGI_SHM_CHUNK,
         steps = (c->bytes + most - 1) / most, pieces = steps * readers,
         piece = rgi_lines_whole((c->bytes + pieces - 1) / pieces);
  piece = piece > PIECE_LEAST ? piece : PIECE_LEAST;
  return (spread){c, 0, piece, readers * piece};
}

/* The bytes of member i's piece in the step whose pieces begin with byte `at`, 0 for the root;
 * where it begins. */
static size_t piece_of(const spread *s, int i, size_t at, size_t *begin) {
  *begin = at + (size_t)(i - (i > s->c->giver)) * s->piece;
  size_t left = *begin < s->c->bytes && i != s->c->giver ? s->c->bytes - *begin : 0;
  return left < s->piece ? left : s->piece;
}

/* The step in which the root tells where the data are. */
static int tell_address(rgi_shared_state *l, spread *s) {
  const rgi_node_coll_copy *c = s->c;
  if (l->me == c->giver) {
    RGI_TRY(rgi_step_begin(l, 0, c->call));
    const rgi_node_coll_offer mine = rgi_node_coll_offer_make(l, c->in, c->bytes);
    rgi_step_give(l, &mine, sizeof mine);
  } else {
    rgi_node_coll_offer *offer;
    RGI_TRY(rgi_step_begin_unread(l, c->call));
    RGI_TRY(rgi_step_await_member(l, c->giver, c->call));
    RGI_TRY(rgi_node_coll_offer_of(l, c->giver, c->bytes, c->call, &offer));
    s->address = offer->address;
  }
  rgi_step_end(l);
  return RG_SUCCESS;
}

/* Waits until member i has read its piece. */
static int await_piece(rgi_shared_state *l, const spread *s, int i) {
  int32_t root;
  RGI_TRY(rgi_step_await_member(l, i, s->c->call));
  RGI_TRY(rgi_step_check_length(l, i, l->step, s->c->call));
  memcpy(&root, rgi_step_cell(l, i)->data, sizeof root);
  return root == s->c->giver
             ? RG_SUCCESS
             : rgi_error(RG_ERR_MISMATCH,
                         "%s: the roots differ: rank %d has another one than this process; form "
                         "the group anew",
                         s->c->call, rgi_shared_state_group_rank(l, i));
}

/* A step of all: `at`, where its pieces begin. The root takes none, and waits for the readers of
 * the last step alone: then its memory is the application's again. */
static int exchange_pieces(rgi_shared_state *l, const spread *s, size_t at) {
  size_t begin, n = piece_of(s, l->me, at, &begin);
  int32_t root = s->c->giver;
  int waits = l->me != root || s->c->bytes - at <= s->round;
  RGI_TRY(rgi_step_begin(l, 1, s->c->call));
  char *chunk = rgi_step_chunk(l, l->me, l->step);
  if (n > 0)
    RGI_TRY(rgi_node_coll_read_member(l, root, s->address + begin, chunk, n, s->c->call));
  rgi_step_publish(l, &root, sizeof root);
  if (n > 0)
    rgi_copy_block(s->c->out + begin, chunk, n);
  for (int k = 1; k < l->n && waits; k++) {
    int i = (l->me + k) % l->n;
    if ((n = piece_of(s, i, at, &begin)) == 0)
      continue;
    RGI_TRY(await_piece(l, s, i));
    RGI_LINES_COUNT_READ(l->me == root ? 0 : RGI_LINES_COUNT_OF(n));
    if (l->me != root)
      rgi_copy_block(s->c->out + begin, rgi_step_chunk(l, i, l->step), n);
  }
  rgi_step_end(l);
  return RG_SUCCESS;
}

int rgi_node_coll_spread(rgi_shared_state *l, const rgi_node_coll_copy *c) {
  spread s = divide(l, c);
  RGI_TRY(tell_address(l, &s));
  for (size_t at = 0; at < c->bytes; at += s.round)
    RGI_TRY(exchange_pieces(l, &s, at));
  return RG_SUCCESS;
}
