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

static void append_staged(staged_message *transfer) {
  transfer->next = NULL;
  *staged.end = transfer;
  staged.end = &transfer->next;
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

static void free_staged(staged_message *transfer) {
  if (transfer->room < SPARE_LEAST || staged.spare_bytes + transfer->room > SPARE_MOST) {
    free(transfer);
    return;
  }
  staged.spare_bytes += transfer->room;
  transfer->next = staged.spare;
  staged.spare = transfer;
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

/* --- pieces -------------------------------------------------------------------------------- */

static size_t piece_count(const staged_message *transfer) {
  return (transfer->bytes + PIECE_BYTES - 1) / PIECE_BYTES;
}

static size_t piece_bytes(const staged_message *transfer, size_t piece) {
  return rgi_message_min(PIECE_BYTES, transfer->bytes - piece * PIECE_BYTES);
}

static char *piece_memory(staged_message *transfer, size_t piece) {
  return transfer->memory + piece % WINDOW * PIECE_BYTES;
}

/* A message of several pieces is sent synchronously: the sender is at most a window ahead. */
static int begin_piece(staged_message *transfer) {
  size_t piece = transfer->begun, n = piece_bytes(transfer, piece);
  MPI_Request *request = &transfer->requests[piece % WINDOW];
  MPI_Comm comm = rgi_message_mpi_comm();
  char *memory = piece_memory(transfer, piece);
  transfer->begun++;
  if (!transfer->sending)
    return MPI_Irecv(memory, (int)n, MPI_BYTE, transfer->peer, transfer->data_tag, comm, request);
  rgi_copy_block(memory, transfer->message->data + piece * PIECE_BYTES, n);
  return (transfer->bytes > PIECE_BYTES ? MPI_Issend : MPI_Isend)(
      memory, (int)n, MPI_BYTE, transfer->peer, transfer->data_tag, comm, request);
}

static int begin_pieces(staged_message *transfer) {
  int error = MPI_SUCCESS;
  while (!error && transfer->begun < piece_count(transfer) &&
         transfer->begun < transfer->ended + WINDOW)
    error = begin_piece(transfer);
  return error;
}

/* A piece has come. */
static void copy_piece(staged_message *transfer, size_t piece) {
  const rgi_message *message = transfer->message;
  size_t at = piece * PIECE_BYTES;
  if (message && at < message->room)
    rgi_copy_block(message->data + at, piece_memory(transfer, piece),
                   rgi_message_min(piece_bytes(transfer, piece), message->room - at));
}

/* The next piece in turn. Returns MPI's error. */
static int end_piece(staged_message *transfer, int *over) {
  MPI_Status status;
  size_t piece = transfer->ended;
  int error = rgi_wait_mpi_test_status(&transfer->requests[piece % WINDOW], over, &status);
  if (error || !*over)
    return error;
  transfer->ended++;
  if (transfer->sending ||
      piece >= piece_count(transfer)) /* that the sender does not send was cancelled */
    return MPI_SUCCESS;
  if (rgi_message_mpi_is_incomplete(&status, piece_bytes(transfer, piece)))
    return MPI_ERR_OTHER;
  copy_piece(transfer, piece);
  return MPI_SUCCESS;
}

static int progress_pieces(staged_message *transfer) {
  int error = MPI_SUCCESS, over = 1;
  while (!error && over && transfer->ended < transfer->begun) {
    error = end_piece(transfer, &over);
    if (!error && over)
      error = begin_pieces(transfer);
  }
  return error;
}

/* --- the end ------------------------------------------------------------------------------- */

/* The message, if it has not been given up, is not under way any more. */
static rgi_message *detach_message(staged_message *transfer) {
  rgi_message *message = transfer->message;
  transfer->message = NULL;
  if (message) {
    message->staged = NULL;
    message->state = RGI_MESSAGE_IDLE;
  }
  return message;
}

static void finish_staged(staged_message *transfer, int error) {
  rgi_message *message = detach_message(transfer);
  if (message)
    rgi_message_finish(message, error);
}

/* The message is in no list. It is freed, or left to MPI. */
static void drop_staged(staged_message *transfer) {
  int left = 0;
  for (int i = 0; i < WINDOW; i++) {
    int over = 0;
    if (!transfer->sending && transfer->requests[i] != MPI_REQUEST_NULL)
      MPI_Cancel(&transfer->requests[i]);
    left |= rgi_wait_mpi_test(&transfer->requests[i], &over) == MPI_SUCCESS && !over;
  }
  if (!left) {
    free_staged(transfer);
    return;
  }
  transfer->next = staged.left;
  staged.left = transfer;
}

/* MPI cannot move the data. If that comes from a death the message is not under way any more, and
 * the wait for it ends by the death. */
static void fail_staged(staged_message *transfer) {
  if (transfer->message && !rgi_message_mpi_is_lost(transfer->peer))
    finish_staged(transfer, RG_ERR_MPI);
  detach_message(transfer);
  drop_staged(transfer);
}

/* MPI has moved the data. Returns 0 if the end is not confirmed: a sender sends the FIN now, a
 * receiver must have got it. */
static int is_confirmed(const staged_message *transfer, int *error) {
  *error = RG_SUCCESS;
  if (!transfer->sending) {
    if (transfer->fin && transfer->message && transfer->bytes < transfer->message->bytes)
      *error = RG_ERR_TIMEOUT;
    return transfer->fin;
  }
  if (rgi_process_is_dead(transfer->peer))
    return 1;
  rgi_message_envelope envelope = {.context = transfer->context,
                                   .peer = rgi_runtime.rank,
                                   .tag = transfer->data_tag,
                                   .bytes = transfer->bytes};
  *error = rgi_message_mpi_send_cell(transfer->peer, RGI_MESSAGE_FIN, &envelope, NULL, 0);
  return *error != RG_ERR_NOMEM; /* otherwise it is tried again later */
}

/* The message has been taken out of the list. Returns 0 if it has to go on. */
static int progress_staged(staged_message *transfer) {
  int error;
  if (progress_pieces(transfer) != MPI_SUCCESS) {
    fail_staged(transfer);
    return 1;
  }
  if (transfer->ended == transfer->begun && is_confirmed(transfer, &error)) {
    finish_staged(transfer, error);
    free_staged(transfer);
    return 1;
  }
  if (!transfer->message && rgi_process_is_dead(transfer->peer)) {
    drop_staged(transfer);
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

static void start_staged(staged_message *transfer) {
  if (begin_pieces(transfer) == MPI_SUCCESS)
    append_staged(transfer);
  else
    fail_staged(transfer);
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
static void note_fin(staged_message *transfer, size_t sent) {
  transfer->fin = 1;
  transfer->bytes = sent;
  for (size_t i = piece_count(transfer); i < transfer->begun; i++)
    if (i >= transfer->ended)
      MPI_Cancel(&transfer->requests[i % WINDOW]);
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
