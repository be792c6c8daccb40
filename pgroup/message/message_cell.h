/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Cells: messages as they arrive, and the inboxes that they arrive in. A cell is a head and, of a
 * short message, the data behind it. Called with the lock of message.c held, except
 * rgi_message_cells_pending. */
#ifndef RGI_MESSAGE_CELL_H
#define RGI_MESSAGE_CELL_H

#include "message/message_list.h"

typedef enum {
  RGI_MESSAGE_EAGER,      /* the data follow the cell's head */
  RGI_MESSAGE_RTS,        /* a rendezvous request: the data come through a pipe */
  RGI_MESSAGE_REMOTE_RTS, /* an rgi_message_cell_remote_rts follows the head; the data come by
                             MPI */
  RGI_MESSAGE_FIN         /* MPI has sent the data of an earlier one: the envelope's tag is its
                             data_tag, bytes is how many have been sent */
} rgi_message_cell_kind;

typedef struct {
  int64_t sent;     /* what the FIN says, if it has come already; else -1 */
  int32_t data_tag; /* the data's tag */
} rgi_message_cell_remote_rts;

/* It lies in the arena, or in this process's own memory when it came from another node (lines is 0
 * then). */
typedef struct rgi_message_cell {
  union {
    uint64_t previous;             /* in an inbox: offset of the cell that came before */
    struct rgi_message_cell *next; /* afterwards */
  };
  uint32_t lines; /* that it takes in the arena */
  uint32_t kind;
  rgi_message_envelope envelope;
} rgi_message_cell;

static inline char *rgi_message_cell_data(rgi_message_cell *cell) {
  return (char *)(cell + 1);
}

void rgi_message_cells_open(void);
void rgi_message_cells_close(void);

/* Bytes of the largest cell, with its head. */
#define RGI_MESSAGE_CELL_MOST ((size_t)32 << 10)

/* A cell in the arena with room for so many bytes of data, at most RGI_MESSAGE_CELL_MOST with the
 * head. RG_ERR_NOMEM. */
int rgi_message_cell_take(size_t bytes, rgi_message_cell **cell);

/* Whether the arena was full a moment ago. To find that out takes a walk through all that is kept
 * in it: messages that can do with what is set aside are spared that. */
int rgi_message_cells_full(void);
void rgi_message_cells_note_full(int full);

void rgi_message_cell_give(rgi_message_cell *cell);

/* Hangs a cell into the inbox of a process of this node and rings its bell. Returns 0 if the inbox
 * holds too much already (never for an RTS); its owner rings when it has emptied the inbox. */
int rgi_message_cell_enqueue(int place, rgi_message_cell *cell);

/* All cells of the own inbox, in the order in which they came. */
rgi_message_cell *rgi_message_cells_collect(void);
int rgi_message_cells_pending(void);

/* How many bytes of the arena one process's buffered messages may take. */
size_t rgi_message_cells_quota(void);

#endif
