/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Pipes: long messages inside a node. The sender enqueues a rendezvous request (RTS): a cell
 * without data that both sides keep until the end. When a receive has matched it, the receiver
 * opens a pipe, a few chunks of shared memory, and both copy at the same time: the sender into the
 * chunks, the receiver out of them. So a process needs memory only for the messages that it is
 * receiving, and the same chunks are used again and stay in the cache. A sender that computes keeps
 * its pipes: so each sender's first message gets one, a small one when all others are in use, and
 * later ones only as long as half of the pipes are left. A message to the process itself is copied
 * once.
 *
 * The RTS's word `pipe` says how far the two are: OPEN, then either WITHDRAWN (by the sender) or
 * CLAIMED (by the receiver: one compare-and-swap decides), then the pipe's offset or REFUSED. The
 * sender counts chunks in `produced` (release after it has filled one), the receiver in `consumed`
 * (release after it has emptied one); each reads the other's count with acquire. A side that gives
 * up sets its flag `gone`. Each side leaves the RTS at its end, and the last one frees it. */
#include "message/message_parts.h"

#include <string.h>

#include "base/clock.h"
#include "base/copy.h"
#include "base/error.h"
#include "base/spare.h"
#include "shm/node.h"

#define CHUNKS 4
#define CHUNK_BYTES ((size_t)64 << 10)
#define PIPE_BYTES (CHUNKS * CHUNK_BYTES)
/* A pipe for when there is no whole one, and none is given back, or the arena has no room for it.
 */
#define SMALL_BYTES ((size_t)8 << 10)
#define PIPES_MOST RGI_NODE_PIPES /* of a process */

/* In a full arena each attempt looks for all that could be given back. */
#define RETRY_SECONDS 1e-3

/* Values of an RTS's `pipe` that are no offsets: those are at least a line. NOT_YET is only a
 * result of take_pipe. */
enum { OPEN, CLAIMED, WITHDRAWN, REFUSED, NOT_YET };

typedef struct rgi_message_rts {
  rgi_message_cell cell;
  uint64_t request; /* the sender's, in its memory */
  int32_t sender;   /* place */
  _Atomic int32_t holders;
  uint64_t purpose; /* an rgi_arena_purpose */
  char pad[RGI_LINE - sizeof(rgi_message_cell) - 3 * sizeof(uint64_t)];
  /* The sender's. */
  _Atomic uint64_t produced; /* chunks */
  _Atomic int32_t sender_gone;
  char pad2[RGI_LINE - sizeof(uint64_t) - sizeof(int32_t)];
  /* The receiver's. */
  _Atomic uint64_t consumed, pipe;
  uint64_t chunk; /* bytes; CHUNKS of them make a pipe */
  _Atomic int32_t receiver_gone;
  char pad3[RGI_LINE - 3 * sizeof(uint64_t) - sizeof(int32_t)];
} rts;

_Static_assert(sizeof(rts) == 3 * RGI_LINE, "an RTS is three lines");

static struct {
  rgi_message *active; /* long messages under way */
  int in_use, most;    /* most: whole ones */
  int *of;             /* for each place: the pipes of its messages */
  int starved;         /* receives that have no pipe yet */
  double retry;        /* in a full arena */
} pipes;

/* --- pipes that are kept for the next message ---------------------------------------------- */

static _Atomic uint64_t *kept_of(int place, int i) {
  return &rgi_node.processes[place].kept.pipes[i];
}

/* 0: none. */
static uint64_t take_kept(void) {
  uint64_t pipe = 0;
  for (int i = 0; i < PIPES_MOST && !pipe; i++)
    if (atomic_load_explicit(kept_of(rgi_node.me, i), memory_order_relaxed))
      pipe = atomic_exchange_explicit(kept_of(rgi_node.me, i), 0, memory_order_relaxed);
  return pipe;
}

/* There is room: no process has more than PIPES_MOST. */
static void keep_pipe(uint64_t pipe) {
  int i = 0;
  while (atomic_load_explicit(kept_of(rgi_node.me, i), memory_order_relaxed))
    i++;
  atomic_store_explicit(kept_of(rgi_node.me, i), pipe, memory_order_release);
}

/* In a full arena: frees what all processes keep. */
static int give_back_pipes(void) {
  int n = 0;
  for (int i = 0; rgi_node.processes && i < rgi_node.n * PIPES_MOST; i++) {
    uint64_t pipe =
        atomic_exchange_explicit(kept_of(i / PIPES_MOST, i % PIPES_MOST), 0, memory_order_acquire);
    if (pipe)
      rgi_arena_free(pipe, PIPE_BYTES);
    n += pipe != 0;
  }
  return n;
}

int rgi_message_pipes_open(void) {
  static rgi_arena_cache cache = {.give_back = give_back_pipes};
  size_t most = rgi_message_cells_quota() / PIPE_BYTES;
  rgi_arena_add_cache(&cache);
  memset(&pipes, 0, sizeof pipes);
  pipes.most = most < 1 ? 1 : most > PIPES_MOST ? PIPES_MOST : (int)most;
  pipes.of = rgi_spare_alloc_zeroed((size_t)rgi_node.n, sizeof *pipes.of);
  return pipes.of ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "rg_init: no memory for messages");
}

void rgi_message_pipes_close(void) {
  rgi_spare_free(pipes.of);
  pipes.of = NULL;
}

/* --- rendezvous requests ------------------------------------------------------------------- */

int rgi_message_pipe_make_rts(rgi_message *message, const rgi_message_envelope *envelope,
                              rgi_message_cell **cell) {
  RGI_TRY(rgi_message_cell_take(sizeof(rts) - sizeof(rgi_message_cell), cell));
  rts *l = (rts *)*cell;
  l->cell.kind = RGI_MESSAGE_RTS;
  l->cell.envelope = *envelope;
  l->request = (uint64_t)(uintptr_t)message;
  l->sender = rgi_node.me;
  l->purpose = (uint64_t)message->purpose;
  atomic_init(&l->holders, 2);
  atomic_init(&l->produced, 0);
  atomic_init(&l->sender_gone, 0);
  atomic_init(&l->consumed, 0);
  atomic_init(&l->pipe, OPEN);
  atomic_init(&l->receiver_gone, 0);
  message->rts = l;
  return RG_SUCCESS;
}

void rgi_message_pipe_start(rgi_message *message) {
  message->next = pipes.active;
  message->link = &pipes.active;
  if (message->next)
    message->next->link = &message->next;
  pipes.active = message;
  message->state = RGI_MESSAGE_ACTIVE;
  rgi_message_count_under_way(1);
}

/* Both sides leave the RTS; the last one frees it, and a pipe that was not closed. */
static void leave_rts(rts *rts) {
  if (atomic_fetch_sub_explicit(&rts->holders, 1, memory_order_acq_rel) > 1)
    return;
  uint64_t pipe = atomic_load_explicit(&rts->pipe, memory_order_relaxed);
  if (pipe >= RGI_LINE)
    rgi_arena_free(pipe, CHUNKS * rts->chunk);
  rgi_message_cell_give(&rts->cell);
}

int rgi_message_pipe_claim(rgi_message_cell *cell) {
  rts *l = (rts *)cell;
  uint64_t open = OPEN;
  if (atomic_compare_exchange_strong(&l->pipe, &open, CLAIMED))
    return 1;
  leave_rts(l);
  return 0;
}

int rgi_message_pipe_withdrawn(const rgi_message_cell *cell) {
  return atomic_load_explicit(&((const rts *)cell)->pipe, memory_order_relaxed) == WITHDRAWN;
}

static void end_message(rgi_message *message, int error) {
  rts *l = message->rts;
  message->rts = NULL;
  rgi_message_remove(message, NULL);
  rgi_message_count_under_way(-1);
  leave_rts(l);
  rgi_message_finish(message, error);
}

/* --- pipes of messages ------------------------------------------------------------- */

/* A message with a purpose takes it of what is set aside. In a full arena a message waits, unless
 * it has no purpose and no pipe is in use that may be given back. */
static uint64_t take_small(rgi_arena_purpose purpose) {
  uint64_t pipe;
  if (rgi_arena_alloc_brief(purpose, "a long message", SMALL_BYTES, &pipe) == RG_SUCCESS)
    return pipe;
  if (!purpose && !pipes.in_use)
    return REFUSED;
  pipes.retry = rgi_clock_now() + RETRY_SECONDS;
  return NOT_YET;
}

/* A whole one; 0: there is none. */
static uint64_t take_whole(rgi_arena_purpose purpose) {
  uint64_t pipe = take_kept();
  if (pipe || (purpose && rgi_message_cells_full()))
    return pipe;
  int error = rgi_arena_alloc("a long message", PIPE_BYTES, &pipe);
  rgi_message_cells_note_full(error != RG_SUCCESS);
  return error ? 0 : pipe;
}

/* For a message of this place. NOT_YET: the receive tries again later, when a pipe or memory may be
 * free. REFUSED: there is no memory. */
static uint64_t take_pipe(int sender, rgi_arena_purpose purpose, size_t *bytes) {
  uint64_t pipe = 0;
  int first = pipes.of[sender] == 0;
  if (pipes.retry > 0 && rgi_clock_now() < pipes.retry)
    return NOT_YET;
  *bytes = PIPE_BYTES;
  if (pipes.in_use < (first ? pipes.most : pipes.most / 2))
    pipe = take_whole(purpose);
  if (pipe)
    return pipe;
  if (!first)
    return NOT_YET;
  *bytes = SMALL_BYTES;
  return take_small(purpose);
}

/* The receiver opens a pipe, if it can get one now. */
static void open_pipe(rgi_message *message) {
  size_t bytes;
  uint64_t pipe = take_pipe(message->rts->sender, (rgi_arena_purpose)message->rts->purpose, &bytes);
  if (pipe == NOT_YET)
    return;
  pipes.starved--;
  message->rts->chunk = bytes / CHUNKS;
  atomic_store_explicit(&message->rts->pipe, pipe, memory_order_release);
  rgi_node_ring(message->rts->sender);
  if (pipe == REFUSED) {
    end_message(message, RG_ERR_NOMEM);
    return;
  }
  message->pipe = pipe;
  pipes.in_use++;
  pipes.of[message->rts->sender]++;
}

/* A receive without a pipe may get one now: this process must look again. */
static void release_pipe(const rgi_message *message) {
  pipes.in_use--;
  pipes.of[message->rts->sender]--;
  if (pipes.starved)
    rgi_node_ring(rgi_node.me);
}

static void close_pipe(rgi_message *message) {
  rts *l = message->rts;
  atomic_store_explicit(&l->pipe, CLAIMED, memory_order_relaxed); /* no longer the RTS's */
  if (l->chunk == CHUNK_BYTES)
    keep_pipe(message->pipe);
  else
    rgi_arena_free(message->pipe, CHUNKS * l->chunk);
  release_pipe(message);
  end_message(message, RG_SUCCESS);
}

/* --- moving: at most a pipe's contents at a time, so that all messages advance ---------- */

static char *chunk_at(const rts *rts, uint64_t pipe, uint64_t number) {
  return (char *)rgi_arena_at(pipe) + number % CHUNKS * rts->chunk;
}

static void push_chunks(rgi_message *message) {
  rts *l = message->rts;
  uint64_t pipe = atomic_load_explicit(&l->pipe, memory_order_acquire);
  uint64_t produced = atomic_load_explicit(&l->produced, memory_order_relaxed);
  if (pipe == REFUSED || atomic_load_explicit(&l->receiver_gone, memory_order_acquire)) {
    end_message(message, pipe == REFUSED ? RG_ERR_NOMEM : RG_ERR_TIMEOUT);
    return;
  }
  for (int i = 0; i < CHUNKS && pipe >= RGI_LINE && message->moved < message->bytes &&
                  produced - atomic_load_explicit(&l->consumed, memory_order_acquire) < CHUNKS;
       i++) {
    size_t n = rgi_message_min(l->chunk, message->bytes - message->moved);
    rgi_copy_block(chunk_at(l, pipe, produced), message->data + message->moved, n);
    message->moved += n;
    atomic_store_explicit(&l->produced, ++produced, memory_order_release);
    rgi_node_ring(message->place);
  }
  if (message->moved == message->bytes)
    end_message(message, RG_SUCCESS);
}

static void pull_chunks(rgi_message *message) {
  rts *l = message->rts;
  if (!message->pipe)
    open_pipe(message);
  if (!message->pipe)
    return;
  int gone = atomic_load_explicit(&l->sender_gone, memory_order_acquire);
  uint64_t consumed = atomic_load_explicit(&l->consumed, memory_order_relaxed);
  for (int i = 0; i < CHUNKS && message->moved < message->bytes &&
                  consumed < atomic_load_explicit(&l->produced, memory_order_acquire);
       i++) {
    size_t n = rgi_message_min(l->chunk, message->bytes - message->moved);
    if (message->moved < message->room)
      rgi_copy_block(message->data + message->moved, chunk_at(l, message->pipe, consumed),
                     rgi_message_min(n, message->room - message->moved));
    message->moved += n;
    atomic_store_explicit(&l->consumed, ++consumed, memory_order_release);
    if (message->moved < message->bytes)
      rgi_node_ring(l->sender);
  }
  if (message->moved == message->bytes) {
    close_pipe(message);
  } else if (gone && consumed == atomic_load_explicit(&l->produced, memory_order_acquire)) {
    release_pipe(message);
    end_message(message, RG_ERR_TIMEOUT);
  }
}

void rgi_message_pipes_progress(void) {
  for (rgi_message *message = pipes.active, *next; message; message = next) {
    next = message->next;
    if (message->sending)
      push_chunks(message);
    else
      pull_chunks(message);
  }
}

static void copy_to_self(rgi_message *message) {
  rgi_message *s = (rgi_message *)(uintptr_t)message->rts->request;
  rgi_copy_block(message->data, s->data, rgi_message_min(message->room, s->bytes));
  end_message(s, RG_SUCCESS);
  end_message(message, RG_SUCCESS);
}

void rgi_message_pipe_accept(rgi_message *message, rgi_message_cell *cell) {
  message->rts = (rts *)cell;
  message->moved = 0;
  message->pipe = 0;
  rgi_message_pipe_start(message);
  if (message->rts->sender == rgi_node.me) {
    if (atomic_load(&message->rts->sender_gone)) /* between the match and this call */
      end_message(message, RG_ERR_TIMEOUT);
    else
      copy_to_self(message);
    return;
  }
  pipes.starved++;
  open_pipe(message);
}

void rgi_message_pipe_abandon(rgi_message *message) {
  rts *l = message->rts;
  uint64_t open = OPEN;
  if (message->sending) {
    atomic_compare_exchange_strong(&l->pipe, &open, WITHDRAWN);
    atomic_store(&l->sender_gone, 1);
    rgi_node_ring(message->place);
  } else {
    atomic_store(&l->receiver_gone, 1);
    rgi_node_ring(l->sender);
    if (message->pipe)
      release_pipe(message);
    else
      pipes.starved--;
  }
  end_message(message, RG_ERR_TIMEOUT);
}
