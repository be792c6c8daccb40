/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Pipes: long messages inside a node. The sender posts a letter: a cell without
 * data that both sides keep until the end. When a receive has met it, the
 * receiver opens a pipe, a few chunks of its own shared memory, and both copy at
 * the same time, the one in, the other out. So a process needs memory for the
 * messages that it receives at this moment only, and the same chunks serve again
 * and stay in the cache. A message to oneself is copied once. */
#include <string.h>

#include "base/error.h"
#include "message/message_parts.h"
#include "shm/node.h"

#define CHUNKS 4
#define CHUNK_BYTES ((size_t)64 << 10)
#define PIPE_BYTES (CHUNKS * CHUNK_BYTES)
/* When the arena has no room for a pipe. */
#define SMALL_BYTES ((size_t)8 << 10)
#define PIPES_MOST 8 /* of a process */

/* What stands in a letter instead of a pipe's offset, which is at least a line. */
enum { OPEN, CLAIMED, WITHDRAWN, REFUSED, NOT_YET };

typedef struct rgi_letter {
  rgi_cell cell;
  uint64_t request; /* the sender's, in its memory */
  int32_t sender;   /* places */
  _Atomic int32_t holders;
  char pad[RGI_LINE - sizeof(rgi_cell) - 2 * sizeof(uint64_t)];
  /* The sender's. */
  _Atomic uint64_t produced; /* chunks */
  _Atomic int32_t sender_gone;
  char pad2[RGI_LINE - sizeof(uint64_t) - sizeof(int32_t)];
  /* The receiver's. */
  _Atomic uint64_t consumed, pipe;
  uint64_t chunk; /* bytes; CHUNKS of them make a pipe */
  _Atomic int32_t receiver_gone;
  char pad3[RGI_LINE - 3 * sizeof(uint64_t) - sizeof(int32_t)];
} letter;

_Static_assert(sizeof(letter) == 3 * RGI_LINE, "a letter is three lines");

static struct {
  uint64_t kept[PIPES_MOST];
  int n, in_use, most;
  int starved; /* how many receives have no pipe yet */
} pipes;

void rgi_pipes_open(void) {
  size_t most = rgi_cells_share() / PIPE_BYTES;
  memset(&pipes, 0, sizeof pipes);
  pipes.most = most < 1 ? 1 : most > PIPES_MOST ? PIPES_MOST : (int)most;
}

/* --- letters ------------------------------------------------------------------- */

int rgi_pipe_write(rgi_request *r, const rgi_envelope *e, rgi_cell **c) {
  RGI_TRY(rgi_cell_take(sizeof(letter) - sizeof(rgi_cell), c));
  letter *l = (letter *)*c;
  l->cell.kind = RGI_LONG;
  l->cell.envelope = *e;
  l->request = (uint64_t)(uintptr_t)r;
  l->sender = rgi_node.me;
  atomic_init(&l->holders, 2);
  atomic_init(&l->produced, 0);
  atomic_init(&l->sender_gone, 0);
  atomic_init(&l->consumed, 0);
  atomic_init(&l->pipe, OPEN);
  atomic_init(&l->receiver_gone, 0);
  r->letter = l;
  return RG_SUCCESS;
}

/* Both sides leave the letter; the last one gives all of it back. */
static void leave(letter *l) {
  if (atomic_fetch_sub_explicit(&l->holders, 1, memory_order_acq_rel) > 1)
    return;
  uint64_t pipe = atomic_load_explicit(&l->pipe, memory_order_relaxed);
  if (pipe >= RGI_LINE)
    rgi_arena_give(pipe, CHUNKS * l->chunk);
  rgi_cell_give(&l->cell);
}

int rgi_pipe_claim(rgi_cell *c) {
  letter *l = (letter *)c;
  uint64_t open = OPEN;
  if (atomic_compare_exchange_strong(&l->pipe, &open, CLAIMED))
    return 1;
  leave(l);
  return 0;
}

int rgi_pipe_withdrawn(const rgi_cell *c) {
  return atomic_load_explicit(&((const letter *)c)->pipe, memory_order_relaxed) == WITHDRAWN;
}

static void end(rgi_request *r, int error) {
  letter *l = r->letter;
  r->letter = NULL;
  rgi_deactivate(r);
  leave(l);
  rgi_finish(r, error);
}

/* --- pipes ----------------------------------------------------------------------- */

/* NOT_YET: one in use will come back. REFUSED: there is no memory. */
static uint64_t take_pipe(size_t *bytes) {
  uint64_t pipe;
  *bytes = PIPE_BYTES;
  if (pipes.n)
    return pipes.kept[--pipes.n];
  if (pipes.in_use >= pipes.most)
    return NOT_YET;
  if (rgi_arena_take("a long message", *bytes, &pipe) == RG_SUCCESS)
    return pipe;
  if (pipes.in_use)
    return NOT_YET;
  *bytes = SMALL_BYTES;
  return rgi_arena_take("a long message", *bytes, &pipe) == RG_SUCCESS ? pipe : REFUSED;
}

/* The receiver opens a pipe if there is one to be had. */
static void open_pipe(rgi_request *r) {
  size_t bytes;
  uint64_t pipe = take_pipe(&bytes);
  if (pipe == NOT_YET)
    return;
  pipes.starved--;
  r->letter->chunk = bytes / CHUNKS;
  atomic_store_explicit(&r->letter->pipe, pipe, memory_order_release);
  rgi_ring(r->letter->sender);
  if (pipe == REFUSED) {
    end(r, RG_ERR_NOMEM);
    return;
  }
  r->pipe = pipe;
  pipes.in_use++;
}

/* What waits for a pipe may now get one. */
static void let_go(void) {
  pipes.in_use--;
  if (pipes.starved)
    rgi_ring(rgi_node.me);
}

static void close_pipe(rgi_request *r) {
  letter *l = r->letter;
  atomic_store_explicit(&l->pipe, CLAIMED, memory_order_relaxed); /* no longer the letter's */
  if (l->chunk == CHUNK_BYTES)
    pipes.kept[pipes.n++] = r->pipe;
  else
    rgi_arena_give(r->pipe, CHUNKS * l->chunk);
  let_go();
  end(r, RG_SUCCESS);
}

/* --- moving: a pipe's contents at a time, so that all have their turn --------------- */

static char *chunk_at(const letter *l, uint64_t pipe, uint64_t number) {
  return (char *)rgi_arena_at(pipe) + number % CHUNKS * l->chunk;
}

static void push(rgi_request *r) {
  letter *l = r->letter;
  uint64_t pipe = atomic_load_explicit(&l->pipe, memory_order_acquire);
  uint64_t produced = atomic_load_explicit(&l->produced, memory_order_relaxed);
  if (pipe == REFUSED || atomic_load_explicit(&l->receiver_gone, memory_order_acquire)) {
    end(r, pipe == REFUSED ? RG_ERR_NOMEM : RG_ERR_TIMEOUT);
    return;
  }
  for (int i = 0; i < CHUNKS && pipe >= RGI_LINE && r->moved < r->bytes &&
                  produced - atomic_load_explicit(&l->consumed, memory_order_acquire) < CHUNKS;
       i++) {
    size_t n = rgi_least(l->chunk, r->bytes - r->moved);
    memcpy(chunk_at(l, pipe, produced), r->data + r->moved, n);
    r->moved += n;
    atomic_store_explicit(&l->produced, ++produced, memory_order_release);
    rgi_ring(r->place);
  }
  if (r->moved == r->bytes)
    end(r, RG_SUCCESS);
}

static void pull(rgi_request *r) {
  letter *l = r->letter;
  if (!r->pipe)
    open_pipe(r);
  if (!r->pipe)
    return;
  int gone = atomic_load_explicit(&l->sender_gone, memory_order_acquire);
  uint64_t consumed = atomic_load_explicit(&l->consumed, memory_order_relaxed);
  for (int i = 0; i < CHUNKS && r->moved < r->bytes &&
                  consumed < atomic_load_explicit(&l->produced, memory_order_acquire);
       i++) {
    size_t n = rgi_least(l->chunk, r->bytes - r->moved);
    if (r->moved < r->room)
      memcpy(r->data + r->moved, chunk_at(l, r->pipe, consumed), rgi_least(n, r->room - r->moved));
    r->moved += n;
    atomic_store_explicit(&l->consumed, ++consumed, memory_order_release);
    if (r->moved < r->bytes)
      rgi_ring(l->sender);
  }
  if (r->moved == r->bytes) {
    close_pipe(r);
  } else if (gone && consumed == atomic_load_explicit(&l->produced, memory_order_acquire)) {
    let_go();
    end(r, RG_ERR_TIMEOUT);
  }
}

void rgi_pipe_push_on(rgi_request *r) {
  if (r->sending)
    push(r);
  else
    pull(r);
}

static void copy_own(rgi_request *r) {
  rgi_request *s = (rgi_request *)(uintptr_t)r->letter->request;
  memcpy(r->data, s->data, rgi_least(r->room, s->bytes));
  end(s, RG_SUCCESS);
  end(r, RG_SUCCESS);
}

void rgi_pipe_accept(rgi_request *r, rgi_cell *c) {
  r->letter = (letter *)c;
  r->moved = 0;
  r->pipe = 0;
  rgi_activate(r);
  if (r->letter->sender == rgi_node.me) {
    copy_own(r);
    return;
  }
  pipes.starved++;
  open_pipe(r);
}

void rgi_pipe_abandon(rgi_request *r) {
  letter *l = r->letter;
  uint64_t open = OPEN;
  if (r->sending) {
    atomic_compare_exchange_strong(&l->pipe, &open, WITHDRAWN);
    atomic_store(&l->sender_gone, 1);
    rgi_ring(r->place);
  } else {
    atomic_store(&l->receiver_gone, 1);
    rgi_ring(l->sender);
    if (r->pipe)
      let_go();
    else
      pipes.starved--;
  }
  end(r, RG_ERR_TIMEOUT);
}
