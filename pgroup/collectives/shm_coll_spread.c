/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Long broadcasts inside a node, where each process has a processor. The caches of one processor
 * give to many others no more bytes in a second than to one: so each member but the root reads a
 * piece of its own from the root's memory into its chunk of the shared buffer, and copies the other
 * pieces from the chunks of those that have read them. The root leaves when all pieces have been
 * read. Data that are longer than all chunks take several such steps. */
#include "base/copy.h"
#include "base/error.h"
#include "collectives/lines_count.h"
#include "collectives/shm_coll.h"
#include "collectives/shm_step.h"

typedef struct {
  const rgi_shm_coll_copy *c;
  uint64_t address;    /* of the data in the root's memory */
  size_t piece, round; /* bytes of a member's piece, at most; of all pieces of a step */
} spread;

int rgi_shm_coll_spreads(const rgi_shared_state *l) {
  return l->n > 2 && rgi_shm_step_can_spin();
}

/* The pieces of a step are about as long as those of the others. */
static spread divide(const rgi_shared_state *l, const rgi_shm_coll_copy *c) {
  size_t readers = (size_t)l->n - 1, most = readers * RGI_SHM_CHUNK,
         steps = (c->bytes + most - 1) / most, pieces = steps * readers,
         piece = rgi_lines_whole((c->bytes + pieces - 1) / pieces);
  return (spread){c, (uint64_t)(uintptr_t)c->in, piece, readers * piece};
}

/* The bytes of member i's piece in the step whose pieces begin with byte `at`; where it begins. */
static size_t piece_of(const spread *s, int i, size_t at, size_t *begin) {
  *begin = at + (size_t)(i - (i > s->c->giver)) * s->piece;
  size_t left = *begin < s->c->bytes ? s->c->bytes - *begin : 0;
  return left < s->piece ? left : s->piece;
}

/* The step in which the root tells where the data are. */
static int tell_address(rgi_shared_state *l, spread *s) {
  int root = s->c->giver;
  if (l->me == root) {
    RGI_TRY(rgi_shm_step_begin(l, 0, s->c->call));
    rgi_shm_step_give(l, &s->address, sizeof s->address);
  } else {
    RGI_TRY(rgi_shm_step_begin_unread(l, s->c->call));
    RGI_TRY(rgi_shm_step_take(l, root, s->c->call));
    memcpy(&s->address, rgi_shm_step_cell(l, root)->data, sizeof s->address);
  }
  rgi_shm_step_end(l);
  return RG_SUCCESS;
}

static int take_piece(rgi_shared_state *l, const spread *s, int i, size_t at) {
  size_t begin, n = piece_of(s, i, at, &begin);
  RGI_TRY(rgi_shm_step_await_member(l, i, s->c->call));
  RGI_TRY(rgi_shm_step_check_length(l, i, l->step, s->c->call));
  RGI_LINES_COUNT_READ(RGI_LINES_COUNT_OF(n));
  rgi_copy_block(s->c->out + begin, rgi_shm_step_chunk(l, i, l->step, RGI_SHM_CHUNK), n);
  return RG_SUCCESS;
}

/* A step of a member that is not the root. */
static int exchange_pieces(rgi_shared_state *l, const spread *s, size_t at) {
  size_t begin, n = piece_of(s, l->me, at, &begin);
  RGI_TRY(rgi_shm_step_begin(l, RGI_SHM_CHUNK, s->c->call));
  char *chunk = rgi_shm_step_chunk(l, l->me, l->step, RGI_SHM_CHUNK);
  RGI_TRY(rgi_shm_coll_read_member(l, s->c->giver, s->address + begin, chunk, n, s->c->call));
  rgi_shm_step_publish(l, NULL, 0);
  rgi_copy_block(s->c->out + begin, chunk, n);
  for (int k = 1; k < l->n; k++) {
    int i = (l->me + k) % l->n;
    if (i != s->c->giver)
      RGI_TRY(take_piece(l, s, i, at));
  }
  rgi_shm_step_end(l);
  return RG_SUCCESS;
}

/* The same step of the root, which gives nothing in it. After the last one its memory is the
 * application's again. */
static int await_exchange(rgi_shared_state *l, const spread *s, int is_last) {
  RGI_TRY(rgi_shm_step_begin_unread(l, s->c->call));
  for (int i = 0; i < l->n && is_last; i++)
    if (i != l->me)
      RGI_TRY(rgi_shm_step_await_member(l, i, s->c->call));
  rgi_shm_step_end(l);
  return RG_SUCCESS;
}

int rgi_shm_coll_spread(rgi_shared_state *l, const rgi_shm_coll_copy *c) {
  spread s = divide(l, c);
  RGI_TRY(tell_address(l, &s));
  for (size_t at = 0; at < c->bytes; at += s.round)
    RGI_TRY(l->me == c->giver ? await_exchange(l, &s, c->bytes - at <= s.round)
                              : exchange_pieces(l, &s, at));
  return RG_SUCCESS;
}
