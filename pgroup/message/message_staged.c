/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Long messages between nodes in a job that survives. MPI cannot be told to let a buffer alone that
 * it has begun to fill or to send, and a wait that ends by a death gives the buffers of living
 * processes back to the application. So MPI moves only memory of the library's own: the sender
 * copies its data into it, the receiver out of it, in pieces, of which a few are under way at a
 * time. This memory (rgi_message_staged) lives until MPI has ended all requests for it.
 *
 * When the sender of a long message is killed while MPI sends it, MPI may tell the receiver that
 * all data have arrived. So the sender sends a FIN when MPI has sent the data, and the message is
 * received when both the data and the FIN are there. A message whose sender or receiver has died
 * is left neither done nor under way: the wait for it ends by the death.
 *
 * A receive that is given up goes on without its message, so that the sender can end. A send that
 * is given up begins no more pieces; its FIN tells the receiver how many bytes there are. */
#include "message/message_parts.h"

#include <stdlib.h>

#include "base/copy.h"
#include "base/error.h"
#include "message/message_mpi.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/process.h"

#define PIECE_BYTES ((size_t)2 << 20)
#define WINDOW 2 /* pieces of a message under way */

/* Fresh memory costs the kernel more than the copy: some is kept. */
#define SPARE_LEAST ((size_t)64 << 10) /* of a message */
#define SPARE_MOST ((size_t)64 << 20)  /* of all together */

struct rgi_message_staged {
  rgi_message *message; /* NULL: given up */
  struct rgi_message_staged *next;
  int sending, peer, data_tag, fin;
  uint64_t context;
  size_t bytes;        /* the sender sends so many: fewer than the message has if it gives up */
  size_t begun, ended; /* pieces */
  size_t room;         /* of memory */
  MPI_Request requests[WINDOW];
  char memory[];
};
typedef struct rgi_message_staged staged_message;

static struct {
  staged_message *active, **end;
  staged_message *left; /* to MPI, since a process has died: not looked at any more */
  staged_message *spare;
  size_t spare_bytes;
} staged;

void rgi_message_staged_open(void) {
  staged.active = NULL;
  staged.end = &staged.active;
}

static void append_staged(staged_message *t) {
  t->next = NULL;
  *staged.end = t;
  staged.end = &t->next;
}

static staged_message *take_spare(size_t room) {
  staged_message **p = &staged.spare, *t;
  while (*p && (*p)->room != room)
    p = &(*p)->next;
  if ((t = *p)) {
    *p = t->next;
    staged.spare_bytes -= t->room;
  }
  return t;
}

static void free_staged(staged_message *t) {
  if (t->room < SPARE_LEAST || staged.spare_bytes + t->room > SPARE_MOST) {
    free(t);
    return;
  }
  staged.spare_bytes += t->room;
  t->next = staged.spare;
  staged.spare = t;
}

static staged_message *allocate_staged(size_t bytes) {
  size_t room = SPARE_LEAST;
  if (bytes < room)
    room = bytes;
  while (room < bytes && room < WINDOW * PIECE_BYTES)
    room *= 2;
  staged_message *t = take_spare(room);
  if (!t)
    t = malloc(sizeof *t + room);
  if (t)
    t->room = room;
  return t;
}

static staged_message *make_staged(rgi_message *message, int data_tag) {
  staged_message *t = allocate_staged(message->bytes);
  if (!t)
    return NULL;
  *t = (staged_message){.message = message,
                        .room = t->room,
                        .sending = message->sending,
                        .peer = message->source,
                        .data_tag = data_tag,
                        .context = message->context,
                        .bytes = message->bytes};
  for (int i = 0; i < WINDOW; i++)
    t->requests[i] = MPI_REQUEST_NULL;
  message->staged = t;
  message->state = RGI_MESSAGE_ACTIVE;
  return t;
}

/* --- pieces ------------------------------------------------------------------------------------
 */

static size_t piece_count(const staged_message *t) {
  return (t->bytes + PIECE_BYTES - 1) / PIECE_BYTES;
}

static size_t piece_bytes(const staged_message *t, size_t piece) {
  return rgi_message_min(PIECE_BYTES, t->bytes - piece * PIECE_BYTES);
}

static char *piece_memory(staged_message *t, size_t piece) {
  return t->memory + piece % WINDOW * PIECE_BYTES;
}

/* A message of several pieces is sent synchronously: the sender is at most a window ahead. */
static int begin_piece(staged_message *t) {
  size_t piece = t->begun, n = piece_bytes(t, piece);
  MPI_Request *request = &t->requests[piece % WINDOW];
  MPI_Comm comm = rgi_message_mpi_comm();
  char *memory = piece_memory(t, piece);
  t->begun++;
  if (!t->sending)
    return MPI_Irecv(memory, (int)n, MPI_BYTE, t->peer, t->data_tag, comm, request);
  rgi_copy_block(memory, t->message->data + piece * PIECE_BYTES, n);
  return (t->bytes > PIECE_BYTES ? MPI_Issend : MPI_Isend)(memory, (int)n, MPI_BYTE, t->peer,
                                                           t->data_tag, comm, request);
}

static int begin_pieces(staged_message *t) {
  int error = MPI_SUCCESS;
  while (!error && t->begun < piece_count(t) && t->begun < t->ended + WINDOW)
    error = begin_piece(t);
  return error;
}

/* A piece has come. */
static void copy_piece(staged_message *t, size_t piece) {
  const rgi_message *message = t->message;
  size_t at = piece * PIECE_BYTES;
  if (message && at < message->room)
    rgi_copy_block(message->data + at, piece_memory(t, piece),
                   rgi_message_min(piece_bytes(t, piece), message->room - at));
}

/* The next piece in turn. Returns MPI's error. */
static int end_piece(staged_message *t, int *over) {
  MPI_Status status;
  size_t piece = t->ended;
  int error = rgi_wait_mpi_test_status(&t->requests[piece % WINDOW], over, &status);
  if (error || !*over)
    return error;
  t->ended++;
  if (t->sending || piece >= piece_count(t)) /* that the sender does not send was cancelled */
    return MPI_SUCCESS;
  if (rgi_message_mpi_is_incomplete(&status, piece_bytes(t, piece)))
    return MPI_ERR_OTHER;
  copy_piece(t, piece);
  return MPI_SUCCESS;
}

static int progress_pieces(staged_message *t) {
  int error = MPI_SUCCESS, over = 1;
  while (!error && over && t->ended < t->begun) {
    error = end_piece(t, &over);
    if (!error && over)
      error = begin_pieces(t);
  }
  return error;
}

/* --- the end ------------------------------------------------------------------------------------
 */

/* The message, if it has not been given up, is not under way any more. */
static rgi_message *detach_message(staged_message *t) {
  rgi_message *message = t->message;
  t->message = NULL;
  if (message) {
    message->staged = NULL;
    message->state = RGI_MESSAGE_IDLE;
  }
  return message;
}

static void finish_staged(staged_message *t, int error) {
  rgi_message *message = detach_message(t);
  if (message)
    rgi_message_finish(message, error);
}

/* t is in no list. It is freed, or left to MPI. */
static void drop_staged(staged_message *t) {
  int left = 0;
  for (int i = 0; i < WINDOW; i++) {
    int over = 0;
    if (!t->sending && t->requests[i] != MPI_REQUEST_NULL)
      MPI_Cancel(&t->requests[i]);
    left |= rgi_wait_mpi_test(&t->requests[i], &over) == MPI_SUCCESS && !over;
  }
  if (!left) {
    free_staged(t);
    return;
  }
  t->next = staged.left;
  staged.left = t;
}

/* MPI cannot move the data. If that comes from a death the message is not under way any more, and
 * the wait for it ends by the death. */
static void fail_staged(staged_message *t) {
  if (t->message && !rgi_message_mpi_is_lost(t->peer))
    finish_staged(t, RG_ERR_MPI);
  detach_message(t);
  drop_staged(t);
}

/* MPI has moved the data. Returns 0 if the end is not confirmed: a sender sends the FIN now, a
 * receiver must have got it. */
static int is_confirmed(const staged_message *t, int *error) {
  *error = RG_SUCCESS;
  if (!t->sending) {
    if (t->fin && t->message && t->bytes < t->message->bytes)
      *error = RG_ERR_TIMEOUT;
    return t->fin;
  }
  if (rgi_process_is_dead(t->peer))
    return 1;
  rgi_message_envelope envelope = {
      .context = t->context, .peer = rgi_runtime.rank, .tag = t->data_tag, .bytes = t->bytes};
  *error = rgi_message_mpi_send_cell(t->peer, RGI_MESSAGE_FIN, &envelope, NULL, 0);
  return *error != RG_ERR_NOMEM; /* otherwise it is tried again later */
}

/* t has been taken out of the list. Returns 0 if it has to go on. */
static int progress_staged(staged_message *t) {
  int error;
  if (progress_pieces(t) != MPI_SUCCESS) {
    fail_staged(t);
    return 1;
  }
  if (t->ended == t->begun && is_confirmed(t, &error)) {
    finish_staged(t, error);
    free_staged(t);
    return 1;
  }
  if (!t->message && rgi_process_is_dead(t->peer)) {
    drop_staged(t);
    return 1;
  }
  return 0;
}

void rgi_message_staged_progress(void) {
  staged_message *back = NULL; /* the first that was kept: then all have been looked at */
  for (int i = 0; i < RGI_MESSAGE_MPI_TESTS && staged.active && staged.active != back; i++) {
    staged_message *t = staged.active;
    staged.active = t->next;
    if (!staged.active)
      staged.end = &staged.active;
    if (progress_staged(t))
      continue;
    append_staged(t);
    if (!back)
      back = t;
  }
}

/* --- the interface ---------------------------------------------------------------------------- */

int rgi_message_staged_prepare(rgi_message *message, int data_tag) {
  return make_staged(message, data_tag) ? RG_SUCCESS
                                        : rgi_error(RG_ERR_NOMEM, "no memory for a message");
}

static void start_staged(staged_message *t) {
  if (begin_pieces(t) == MPI_SUCCESS)
    append_staged(t);
  else
    fail_staged(t);
}

void rgi_message_staged_start(rgi_message *message, int error) {
  if (!error) {
    start_staged(message->staged);
    return;
  }
  staged_message *t = message->staged;
  detach_message(t);
  free_staged(t);
}

/* The sender has sent so many bytes, and sends no more. */
static void note_fin(staged_message *t, size_t sent) {
  t->fin = 1;
  t->bytes = sent;
  for (size_t i = piece_count(t); i < t->begun; i++)
    if (i >= t->ended)
      MPI_Cancel(&t->requests[i % WINDOW]);
}

void rgi_message_staged_accept(rgi_message *message, const rgi_message_cell_remote_rts *what) {
  staged_message *t = make_staged(message, what->data_tag);
  if (!t) {
    rgi_message_finish(message, RG_ERR_NOMEM);
    return;
  }
  if (what->sent >= 0)
    note_fin(t, (size_t)what->sent);
  start_staged(t);
}

int rgi_message_staged_fin(const rgi_message_envelope *envelope) {
  for (staged_message *t = staged.active; t; t = t->next)
    if (!t->sending && t->peer == envelope->peer && t->data_tag == envelope->tag) {
      note_fin(t, envelope->bytes);
      return 1;
    }
  return 0;
}

void rgi_message_staged_abandon(rgi_message *message) {
  staged_message *t = message->staged;
  if (t->sending)
    t->bytes = rgi_message_min(t->bytes, t->begun * PIECE_BYTES);
  finish_staged(t, RG_ERR_TIMEOUT);
}

void rgi_message_staged_close(void) {
  for (staged_message *t = staged.active, *next; t; t = next) {
    next = t->next;
    detach_message(t);
    drop_staged(t);
  }
  for (staged_message *t = staged.spare, *next; t; t = next) {
    next = t->next;
    free(t);
  }
  staged.spare = NULL;
  staged.spare_bytes = 0;
  rgi_message_staged_open();
}
